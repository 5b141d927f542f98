import asyncio

import torch

w = torch.randn(2, requires_grad=True)


async def loss_of(k):
    await asyncio.sleep(0)
    return (w * k).sum()


async def main():
    for k in range(2):
        loss = await loss_of(k)
        loss.backward()
    loss.backward()


asyncio.run(main())
