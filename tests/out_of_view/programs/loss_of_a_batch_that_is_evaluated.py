"""A loss steps through the examples of a batch; that an evaluation only looks at its value is no fault of the loss."""

import torch
import torch.nn.functional as F
from torch import nn


def attend(words, regions):
    scores = torch.softmax(torch.bmm(regions.transpose(1, 2), words), dim=1)
    return torch.bmm(regions, scores), scores


def words_loss(regions, words, labels, lengths, batch_size):
    maps = []
    similarities = []
    for i in range(batch_size):
        word = words[i, :, : lengths[i]].unsqueeze(0).contiguous().repeat(batch_size, 1, 1)
        context, attention = attend(word, regions)
        maps.append(attention[i].unsqueeze(0).contiguous())
        row = F.cosine_similarity(word, context)
        similarities.append(torch.log(row.exp().sum(dim=1, keepdim=True)))
    similarities = torch.cat(similarities, 1)
    return F.cross_entropy(similarities, labels), maps


def evaluate(loader, text_encoder: nn.Module, image_encoder: nn.Module, labels, batch_size):
    text_encoder.eval()
    image_encoder.eval()
    total = 0
    for images, captions, lengths in loader:
        regions = image_encoder(images)
        words = text_encoder(captions, lengths)
        loss, _ = words_loss(regions, words, labels, lengths, batch_size)
        total += loss.item()
    return total / len(loader)
