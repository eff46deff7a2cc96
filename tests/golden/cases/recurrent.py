"""Recurrent layers, their cells, and sequences of different lengths."""

import torch
from torch import nn
from torch.nn.utils import rnn

GATES = {"lstm": 4, "gru": 3, "rnn": 1}


def flat_weights(v, gates, hidden, width, layers=1, directions=1, bias=True, projected=0):
    """In the order of layers and then directions: w_ih, w_hh, b_ih, b_hh, w_hr."""
    state, weights = projected or hidden, []
    for layer in range(layers):
        for _ in range(directions):
            of_x = width if layer == 0 else state * directions
            shapes = [(gates * hidden, of_x), (gates * hidden, state)]
            shapes += [(gates * hidden,)] * 2 if bias else []
            shapes += [(projected, hidden)] if projected else []
            weights += [v.values(*shape, scale=1.5) for shape in shapes]
    return weights


def call(kind, x, states, weights, bias, layers, bidirectional, batch_first=False, sizes=None):
    """torch.lstm and its like, without dropout."""
    function = {"lstm": torch.lstm, "gru": torch.gru, "rnn": torch.rnn_tanh,
                "rnn_relu": torch.rnn_relu}[kind]
    hx = tuple(states) if kind == "lstm" else states[0]
    if sizes is not None:
        return function(x, torch.tensor(sizes), hx, weights, bias, layers, 0.0, False,
                        bidirectional)
    return function(x, hx, weights, bias, layers, 0.0, False, bidirectional, batch_first)


def add_layers(v):
    """`weights` are flat; without `packed` sizes x is [steps, batch, in]."""
    def run(kind):
        def function(x, h, weights, c=None, bias=True, layers=1, bidirectional=False,
                     batch_first=False, packed=None, projected=0, nonlinearity="tanh"):
            name = "rnn_relu" if nonlinearity == "relu" else kind
            results = call(name, x, [h] if c is None else [h, c], list(weights), bias, layers,
                           bidirectional, batch_first, packed)
            return dict(zip(("y", "h_n", "c_n"), results))
        return function

    for kind, gates in GATES.items():
        variants = {
            "plain": {}, "without_bias": {"bias": False}, "layers": {"layers": 2},
            "bidirectional": {"bidirectional": True}, "batch_first": {"batch_first": True},
            "two_layers_both_ways": {"layers": 2, "bidirectional": True},
            "packed": {"packed": [3, 2, 2, 1]},
            "packed_both_ways": {"packed": [3, 2, 2, 1], "bidirectional": True, "layers": 2}}
        if kind == "lstm":
            variants |= {"projected": {"projected": 2},
                         "projected_both_ways": {"projected": 2, "bidirectional": True,
                                                 "layers": 2}}
        if kind == "rnn":
            variants |= {"relu": {"nonlinearity": "relu"},
                         "relu_both_ways": {"nonlinearity": "relu", "bidirectional": True}}
        for name, attrs in variants.items():
            layers, directions = attrs.get("layers", 1), 2 if attrs.get("bidirectional") else 1
            projected, batch = attrs.get("projected", 0), 3
            x = v.values(8, 2) if "packed" in attrs else (
                v.values(batch, 4, 2) if attrs.get("batch_first") else v.values(4, batch, 2))
            states = {"h": v.values(layers * directions, batch, projected or 3)}
            if kind == "lstm":
                states["c"] = v.values(layers * directions, batch, 3)
            v.case(kind, name, run(kind), attrs, x=x, **states,
                   weights=flat_weights(v, gates, 3, 2, layers, directions,
                                        attrs.get("bias", True), projected))


def add_cells(v):
    def lstm_cell(x, h, c, w_ih, w_hh, b_ih=None, b_hh=None):
        return dict(zip(("h", "c"), torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)))

    def gru_cell(x, h, w_ih, w_hh, b_ih=None, b_hh=None):
        return torch.gru_cell(x, h, w_ih, w_hh, b_ih, b_hh)

    def rnn_cell(x, h, w_ih, w_hh, b_ih=None, b_hh=None, nonlinearity="tanh"):
        function = torch.rnn_relu_cell if nonlinearity == "relu" else torch.rnn_tanh_cell
        return function(x, h, w_ih, w_hh, b_ih, b_hh)

    cells = {"lstm_cell": (4, lstm_cell), "gru_cell": (3, gru_cell), "rnn_cell": (1, rnn_cell)}
    for op, (gates, function) in cells.items():
        for name, batch, bias, attrs in (("batch", (2,), True, {}),
                                         ("without_bias", (2,), False, {}),
                                         ("relu", (2,), True, {"nonlinearity": "relu"})):
            if attrs and op != "rnn_cell":
                continue
            states = {"h": v.values(*batch, 3)}
            if op == "lstm_cell":
                states["c"] = v.values(*batch, 3)
            weights = dict(zip(("w_ih", "w_hh", "b_ih", "b_hh"),
                               flat_weights(v, gates, 3, 4, bias=bias)))
            v.case(op, name, function, attrs, x=v.values(*batch, 4), **states, **weights)


def add_sequences(v):
    def pack(x, lengths, batch_first=False, enforce_sorted=True):
        packed = rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first, enforce_sorted)
        return packed.data

    for name, shape, attrs in (
            ("sorted", (4, 3, 2), {"lengths": [4, 2, 1]}),
            ("batch_first", (3, 4), {"lengths": [4, 4, 2], "batch_first": True}),
            ("unsorted", (4, 3, 2), {"lengths": [1, 4, 2], "enforce_sorted": False})):
        v.case("pack_padded_sequence", name, pack, attrs, x=v.values(*shape))

    def pad_packed(data, batch_sizes, batch_first=False, padding_value=0.0, total_length=None):
        packed = rnn.PackedSequence(data, torch.tensor(batch_sizes))
        return rnn.pad_packed_sequence(packed, batch_first, padding_value, total_length)[0]

    for name, attrs in (("plain", {}), ("batch_first", {"batch_first": True}),
                        ("options", {"padding_value": 2.5, "total_length": 5}),
                        ("longer", {"batch_first": True, "total_length": 6})):
        v.case("pad_packed_sequence", name, pad_packed, {"batch_sizes": [3, 2, 1], **attrs},
               data=v.values(6, 2))
    for name, attrs in (("plain", {}), ("batch_first", {"batch_first": True}),
                        ("padding", {"padding_value": -1.5})):
        v.case("pad_sequence", name,
               lambda sequences, batch_first=False, padding_value=0.0: rnn.pad_sequence(
                   list(sequences), batch_first, padding_value), attrs,
               sequences=[v.values(n, 2) for n in (2, 4, 1)])
    for name, attrs, lengths in (("sorted", {}, (4, 2, 2)),
                                 ("unsorted", {"enforce_sorted": False}, (2, 4, 1))):
        v.case("pack_sequence", name,
               lambda sequences, enforce_sorted=True: rnn.pack_sequence(
                   list(sequences), enforce_sorted).data, attrs,
               sequences=[v.values(n, 2) for n in lengths])


def add_layer_classes(v):
    """The output alone; `in` and the like are the options' names in Firn."""
    def run(make, names):
        def function(x, hidden, **rest):
            parameters = {k: t for k, t in rest.items() if isinstance(t, torch.Tensor)}
            options = {names.get(k, k): o for k, o in rest.items() if k not in parameters}
            layer = make(options.pop("in"), hidden, **options).double()
            result = torch.func.functional_call(layer, parameters, (x,))
            return result[0] if isinstance(result, tuple) else result
        return function

    for op, make in (("lstm", nn.LSTM), ("gru", nn.GRU), ("rnn", nn.RNN)):
        variants = {"default": {}, "without_bias": {"bias": False},
                    "both_ways": {"layers": 2, "bidirectional": True},
                    "batch_first": {"batch_first": True}}
        if op == "lstm":
            variants["projected"] = {"proj_size": 2, "layers": 2}
        if op == "rnn":
            variants["relu"] = {"nonlinearity": "relu"}
        for name, attrs in variants.items():
            made = make(2, 3, attrs.get("layers", 1), **{
                k: a for k, a in attrs.items() if k != "layers"})
            parameters = {k: v.values(*p.shape, scale=1.5) for k, p in made.named_parameters()}
            v.case(op, name, run(make, {"layers": "num_layers"}), {"in": 2, "hidden": 3, **attrs},
                   x=v.values(3, 2, 2), **parameters)
    for op, make in (("lstm_cell", nn.LSTMCell), ("gru_cell", nn.GRUCell), ("rnn_cell", nn.RNNCell)):
        for name, attrs in (("default", {}), ("without_bias", {"bias": False})):
            parameters = {k: v.values(*p.shape, scale=1.5)
                          for k, p in make(2, 3, **attrs).named_parameters()}
            v.case(op, name, run(make, {}), {"in": 2, "hidden": 3, **attrs}, x=v.values(4, 2),
                   **parameters)


PARTS = (add_layers, add_cells, add_sequences)
LAYERS = (add_layer_classes,)
