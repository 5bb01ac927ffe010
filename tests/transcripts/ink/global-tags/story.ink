# author: A. Writer
# title: A Tale

Text.
