"""Campaigns: free plays from scene to scene."""
