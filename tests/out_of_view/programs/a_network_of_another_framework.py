
import numpy as np

net = Sequential()
criterion = ClassNLLCriterion()
X, Y = np.random.rand(100, 2), np.random.rand(100, 2)
for i in range(20):
    predictions = net.forward(X)
    loss = criterion.forward(predictions, Y)
    net.backward(X, criterion.backward(predictions, Y))
