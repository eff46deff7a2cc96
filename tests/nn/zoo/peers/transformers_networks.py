"""transformers' networks of texts."""
from make_references import Peer

try:
    import transformers
except ImportError:
    transformers = None


def _bert(**sizes):
    return transformers.BertModel(transformers.BertConfig(**sizes))


NETWORKS = {} if transformers is None else {
    "bert_base": Peer(make=_bert, inputs=[(2, 16)], counts=[30522], classifies=False,
                      result=lambda out: out.last_hidden_state),
    "bert_tiny": Peer(make=lambda: _bert(hidden_size=128, num_hidden_layers=2, num_attention_heads=2,
                                         intermediate_size=512),
                      inputs=[(2, 16)], counts=[30522], classifies=False,
                      result=lambda out: out.last_hidden_state),
    "minilm_l6_h384": Peer(make=lambda: _bert(hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                                              intermediate_size=1536),
                           inputs=[(2, 16)], counts=[30522], classifies=False,
                           result=lambda out: out.last_hidden_state),
    "gpt2": Peer(make=lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()), inputs=[(2, 16)],
                 counts=[50257], classifies=False, result=lambda out: out.logits),
}
