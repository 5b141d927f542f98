"""Which of the findings of a program that has many somebody wants to hear of."""
