"""Attention."""

import torch
from torch.nn import functional as F


def add_attention(v):
    def attention(q, k, v, attn_mask=None, **options):
        return F.scaled_dot_product_attention(q, k, v, attn_mask, **options)

    def add(name, q, kv, value_width, attrs=None, **more):
        v.case("scaled_dot_product_attention", name, attention, attrs,
               q=v.values(*q), k=v.values(*kv, q[-1]), v=v.values(*kv, value_width), **more)

    add("plain", (2, 2, 3, 4), (2, 2, 5), 3)
    add("no_batch", (2, 3, 4), (2, 5), 4)
    add("no_heads", (3, 4), (5,), 2)
    add("rank5", (2, 1, 2, 3, 4), (2, 1, 2, 5), 2)
    add("broadcast_batch", (2, 2, 3, 4), (1, 2, 5), 3)
    add("scale", (1, 2, 3, 4), (1, 2, 5), 3, {"scale": 0.3})
    add("causal", (1, 2, 4, 3), (1, 2, 4), 3, {"is_causal": True})
    add("causal_more_keys", (1, 1, 3, 2), (1, 1, 5), 2, {"is_causal": True})
    add("causal_more_queries", (1, 1, 5, 2), (1, 1, 3), 2, {"is_causal": True})
    add("groups", (1, 4, 3, 2), (1, 2, 4), 2, {"enable_gqa": True})
    seen = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    add("seen", (1, 2, 3, 2), (1, 2, 3), 2, attn_mask=seen)  # query 1 sees nothing
    add("seen_by_head", (2, 2, 3, 2), (2, 2, 3), 2,
        attn_mask=torch.stack([seen, seen.T]).expand(2, 2, 3, 3).contiguous())
    add("added", (2, 2, 3, 2), (2, 2, 4), 2, attn_mask=v.values(2, 1, 3, 4))
    add("added_to_keys", (2, 2, 3, 2), (2, 2, 4), 2, attn_mask=v.values(4))


PARTS = (add_attention,)
