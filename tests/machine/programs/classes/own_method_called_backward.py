class Value:
    def __init__(self, data):
        self.data = data
        self.grad = 0.0

    def backward(self):
        self.grad += 1.0


value = Value(3.0)
for _ in range(3):
    value.backward()
print(value.grad)
