"""Stories in the making: plan, sections, story."""
