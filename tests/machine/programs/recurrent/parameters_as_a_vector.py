from torch import nn

model = nn.Linear(2, 1)
penalty = nn.utils.parameters_to_vector(model.parameters())
penalty.sum().backward()
penalty.sum().backward()
squares = nn.utils.parameters_to_vector(model.parameters()).pow(2)
squares.sum().backward()
squares.sum().backward()
