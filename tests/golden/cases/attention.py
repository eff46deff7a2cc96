"""Attention."""

import torch
from torch import nn
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


def add_multi_head_attention(v):
    def multi_head(q, k, v, num_heads, in_proj_weight=None, q_proj_weight=None, k_proj_weight=None,
                   v_proj_weight=None, in_proj_bias=None, bias_k=None, bias_v=None,
                   out_proj_weight=None, out_proj_bias=None, key_padding_mask=None, attn_mask=None,
                   add_zero_attn=False, average_weights=True):
        output, weights = F.multi_head_attention_forward(
            q, k, v, q.shape[-1], num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
            add_zero_attn, 0.0, out_proj_weight, out_proj_bias, training=True,
            key_padding_mask=key_padding_mask, need_weights=True, attn_mask=attn_mask,
            use_separate_proj_weight=in_proj_weight is None, q_proj_weight=q_proj_weight,
            k_proj_weight=k_proj_weight, v_proj_weight=v_proj_weight,
            average_attn_weights=average_weights)
        return {"output": output, "weights": weights}

    def add(name, attrs=None, **more):
        v.case("multi_head_attention", name, multi_head, {"num_heads": 2, **(attrs or {})},
               q=v.values(3, 2, 4, scale=1.0), k=v.values(5, 2, 4, scale=1.0),
               v=v.values(5, 2, 4, scale=1.0),
               in_proj_weight=v.values(12, 4, scale=1.0), in_proj_bias=v.values(12, scale=1.0),
               out_proj_weight=v.values(4, 4, scale=1.0), out_proj_bias=v.values(4, scale=1.0),
               **more)

    padding = torch.tensor([[False, False, True, False, True], [False, True, False, False, False]])
    hidden = torch.tensor([[False, True, False, False, True], [True, True, False, False, False],
                           [False, False, False, False, True]])
    add("plain")
    add("each_head", {"average_weights": False})
    add("masks", key_padding_mask=padding, attn_mask=hidden)
    add("added_mask", attn_mask=v.values(4, 3, 5))
    add("zero_attention", {"add_zero_attn": True}, key_padding_mask=padding)
    add("bias_keys", bias_k=v.values(1, 1, 4, scale=1.0), bias_v=v.values(1, 1, 4, scale=1.0),
        attn_mask=hidden)
    v.case("multi_head_attention", "sizes_of_their_own", multi_head, {"num_heads": 2},
           q=v.values(3, 2, 4, scale=1.0), k=v.values(5, 2, 3, scale=1.0),
           v=v.values(5, 2, 6, scale=1.0),
           q_proj_weight=v.values(4, 4, scale=1.0), k_proj_weight=v.values(4, 3, scale=1.0),
           v_proj_weight=v.values(4, 6, scale=1.0), out_proj_weight=v.values(4, 4, scale=1.0))


PARTS = (add_attention, add_multi_head_attention)


# Options in Firn's words and PyTorch's.
WORDS = {"embed": "d_model", "heads": "nhead", "feedforward": "dim_feedforward",
         "eps": "layer_norm_eps", "encoder_layers": "num_encoder_layers",
         "decoder_layers": "num_decoder_layers"}


def in_torchs_words(attrs):
    return {WORDS.get(key, key): value for key, value in attrs.items()}


def stack(of_layers, layer):
    """An encoder or decoder; its last norm is there with `norm`."""
    def make(embed, count, norm=False, **attrs):
        one = layer(embed, **in_torchs_words(attrs))
        return of_layers(one, count, nn.LayerNorm(embed) if norm else None)
    return make


def add_layers(v):
    def add(op, name, make, call, attrs, x, target=None):
        def run(x, target=None, **rest):
            state = {key: value for key, value in rest.items() if isinstance(value, torch.Tensor)}
            options = {key: value for key, value in rest.items() if key not in state}
            y = torch.func.functional_call(make(**options).double(), state, call(x, target))
            return y[0] if isinstance(y, tuple) else y  # without the weights of attention

        inputs = {"x": v.values(*x)}
        if target is not None:
            inputs["target"] = v.values(*target)
        for key, value in make(**attrs).state_dict().items():
            inputs[key] = v.values(*value.shape, scale=1.0)  # larger products lose digits
        v.case(op, name, run, attrs, **inputs)

    def multi_head(embed, heads, **options):
        return nn.MultiheadAttention(embed, heads, **options)

    to_itself = lambda x, target: (x, x, x, None, False)
    for name, attrs in (("default", {}), ("without_bias", {"bias": False}),
                        ("more_keys", {"add_bias_kv": True, "add_zero_attn": True}),
                        ("batch_first", {"batch_first": True})):
        add("multi_head_attention", name, multi_head, to_itself,
            {"embed": 4, "heads": 2, **attrs}, (3, 2, 4))
    sizes = {"embed": 4, "heads": 2, "feedforward": 6, "dropout": 0.0}
    layer = lambda of: lambda **attrs: of(**in_torchs_words(attrs))
    alone, both = lambda x, target: (x,), lambda x, target: (x, target)
    for name, attrs in (("default", {}), ("norm_first", {"norm_first": True}),
                        ("gelu", {"activation": "gelu", "eps": 0.1, "bias": False}),
                        ("batch_first", {"batch_first": True})):
        add("transformer_encoder_layer", name, layer(nn.TransformerEncoderLayer), alone,
            {**sizes, **attrs}, (3, 2, 4))
        other = (2, 5, 4) if "batch_first" in attrs else (5, 2, 4)
        x = (2, 3, 4) if "batch_first" in attrs else (3, 2, 4)
        add("transformer_decoder_layer", name, layer(nn.TransformerDecoderLayer), both,
            {**sizes, **attrs}, x, other)
    for name, attrs in (("default", {}), ("norm", {"norm": True})):
        add("transformer_encoder", name, stack(nn.TransformerEncoder, nn.TransformerEncoderLayer),
            alone, {**sizes, "count": 2, **attrs}, (3, 2, 4))
        add("transformer_decoder", name, stack(nn.TransformerDecoder, nn.TransformerDecoderLayer),
            both, {**sizes, "count": 2, **attrs}, (3, 2, 4), (5, 2, 4))
    add("transformer", "default", layer(nn.Transformer), both,
        {**sizes, "encoder_layers": 1, "decoder_layers": 1}, (3, 2, 4), (5, 2, 4))


LAYER_PARTS = (add_layers,)
