"""Networks of VLN-CE and GOAT-Bench once more, as plain functions of the reference code's weights."""

from navarena.learning.tensors import torch

from .reference_networks import linear, recurrent_shapes, step_gru, step_lstm

F = torch.nn.functional

RGB, DEPTH = "net.rgb_encoder.", "net.depth_encoder."
BACKBONE = f"{DEPTH}visual_encoder.backbone."


def vlnce_shapes(pool=False, at_end=False):
    """Keys and shapes of the CMA policies of VLN-CE; `pool` and `at_end` are IVLN-CE's."""
    shapes = {}

    def norm(name, planes, batch):
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (planes,)
        if batch:
            shapes[f"{name}.running_mean"] = shapes[f"{name}.running_var"] = (planes,)
            shapes[f"{name}.num_batches_tracked"] = ()

    def trunk(begin, width, channels, convs, norms, first, batch):
        shapes[f"{begin}{first[0]}.weight"] = (width, channels, 7, 7)
        norm(f"{begin}{first[1]}", width, batch)
        into = width
        for stage, blocks in enumerate((3, 4, 6, 3)):
            planes = width * 2**stage
            for block in range(blocks):
                name = f"{begin}layer{stage + 1}.{block}."
                sides = ((into, planes, 1), (planes, planes, 3), (planes, 4 * planes, 1))
                for number, (given, out, kernel) in enumerate(sides):
                    shapes[f"{name}{convs[number]}.weight"] = (out, given, kernel, kernel)
                    norm(f"{name}{norms[number]}", out, batch)
                if block == 0:
                    shapes[f"{name}downsample.0.weight"] = (4 * planes, into, 1, 1)
                    norm(f"{name}downsample.1", 4 * planes, batch)
                into = 4 * planes

    trunk(f"{RGB}cnn.", 64, 3, *TORCHVISION, True)
    trunk(BACKBONE, 32, 1, *HABITAT, False)
    shapes[f"{DEPTH}visual_encoder.compression.0.weight"] = (128, 1024, 3, 3)
    norm(f"{DEPTH}visual_encoder.compression.1", 128, False)
    shapes[f"{RGB}spatial_embeddings.weight"] = shapes[f"{DEPTH}spatial_embeddings.weight"] = (16, 64)
    texts = recurrent_shapes("net.instruction_encoder.encoder_rnn.", 4, 50, 128, 1)
    shapes |= texts | {f"{name}_reverse": shape for name, shape in texts.items()}
    shapes |= {
        "net._scale": (),
        "net.instruction_encoder.embedding_layer.weight": (2504, 50),
        "net.prev_action_embedding.weight": (5, 32),
        "net.rgb_kv.weight": (512, 2112, 1),
        "net.depth_kv.weight": (384, 192, 1),
        "net.text_k.weight": (256, 256, 1),
        **recurrent_shapes("net.state_encoder.rnn.", 3, 416 + 512 * pool, 512, 1),
        **recurrent_shapes("net.second_state_encoder.rnn.", 3, 512, 512, 1),
    }
    sizes = {"rgb_linear.2": (256, 2112), "depth_linear.1": (128, 3072), "state_q": (256, 512)}
    sizes |= {"text_q": (256, 256), "second_state_compress.0": (512, 1184), "progress_monitor": (1, 512)}
    sizes |= {"out_layer.0": (512, 1024)} if at_end else {}
    shapes |= {f"net.{name}.weight": shape for name, shape in sizes.items()}
    sizes |= {"rgb_kv": (512,), "depth_kv": (384,), "text_k": (256,)}
    shapes |= {f"net.{name}.bias": shape[:1] for name, shape in sizes.items()}
    return shapes | {"action_distribution.linear.weight": (4, 512), "action_distribution.linear.bias": (4,)}


TORCHVISION = ("conv1", "conv2", "conv3"), ("bn1", "bn2", "bn3"), ("conv1", "bn1")
HABITAT = ("convs.0", "convs.3", "convs.6"), ("convs.1", "convs.4", "convs.7"), ("conv1.0", "conv1.1")


def run_resnet50(weights, begin, x, names, groups):
    """The four stages of a ResNet-50; `groups` of its normalisation, None for batches."""

    def norm(x, name):
        pair = weights[f"{begin}{name}.weight"], weights[f"{begin}{name}.bias"]
        if groups:
            return F.group_norm(x, groups, *pair)
        mean, variance = weights[f"{begin}{name}.running_mean"], weights[f"{begin}{name}.running_var"]
        return F.batch_norm(x, mean, variance, *pair)

    def conv(x, name, stride=1):
        weight = weights[f"{begin}{name}.weight"]
        return F.conv2d(x, weight, None, stride, weight.shape[-1] // 2)

    convs, norms, first = names
    x = F.max_pool2d(norm(conv(x, first[0], 2), first[1]).relu(), 3, 2, 1)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            name, stride = f"layer{stage + 1}.{block}.", 2 if stage and not block else 1
            y = norm(conv(x, name + convs[0]), name + norms[0]).relu()
            y = norm(conv(y, name + convs[1], stride), name + norms[1]).relu()
            y = norm(conv(y, name + convs[2]), name + norms[2])
            if block == 0:
                x = norm(conv(x, f"{name}downsample.0", stride), f"{name}downsample.1")
            x = (x + y).relu()
    return x


def read_instruction(weights, tokens):
    """(256, L) outputs of the LSTM in both directions over the L words of `tokens` (200,)."""
    begin = "net.instruction_encoder."
    words = weights[f"{begin}embedding_layer.weight"][tokens[tokens != 0].long()]

    def run(words, end):
        name = {one: weights[f"{begin}encoder_rnn.{one}_l0{end}"] for one in
                ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}  # fmt: skip
        h = c = torch.zeros(128)
        outputs = []
        for x in words:
            gates = name["weight_ih"] @ x + name["bias_ih"] + name["weight_hh"] @ h + name["bias_hh"]
            i, f, g, o = gates.chunk(4)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(h)
        return torch.stack(outputs)

    return torch.cat((run(words, ""), run(words.flip(0), "_reverse").flip(0)), 1).T


def attend(query, keys, values):
    """`query` (256,), `keys` (256, P), `values` (V, P): scalar products over 16."""
    return values @ torch.softmax(query @ keys / 16, 0)


def run_vlnce(weights, seen, previous, state):
    """`previous` are actions + 1, 0 at the start. Values are 0: imitation learns none."""
    slots = len(previous)
    rgb = seen["rgb"].float().permute(0, 3, 1, 2) / 255
    rgb = F.adaptive_avg_pool2d(run_resnet50(weights, f"{RGB}cnn.", rgb, TORCHVISION, None), 4)
    depth = F.avg_pool2d(seen["depth"].float().permute(0, 3, 1, 2), 2)
    depth = run_resnet50(weights, BACKBONE, depth, HABITAT, 16)
    begin = f"{DEPTH}visual_encoder.compression."
    depth = F.conv2d(depth, weights[f"{begin}0.weight"], None, 1, 1)
    depth = F.group_norm(depth, 1, weights[f"{begin}1.weight"], weights[f"{begin}1.bias"]).relu()
    rows, states = [], []
    for slot in range(slots):
        places = []
        for image, name in ((rgb, RGB), (depth, DEPTH)):
            where = weights[f"{name}spatial_embeddings.weight"].reshape(64, 4, 4)
            places.append(torch.cat((image[slot], where)).flatten(1))
        h1, h2, pool = (torch.zeros(1, 512),) * 3 if state is None else state[slot]
        action = weights["net.prev_action_embedding.weight"][previous[slot]]
        vectors = [linear(weights, "net.rgb_linear.2", places[0].mean(1)).relu()]
        vectors.append(linear(weights, "net.depth_linear.1", places[1].flatten()).relu())
        pools = weights["net.state_encoder.rnn.weight_ih_l0"].shape[1] == 928
        x = torch.cat((*vectors, action, *([pool[0]] if pools else [])))
        h1 = step_gru(weights, "net.state_encoder.rnn.", x[None], h1)
        text = read_instruction(weights, seen["instruction_tokens"][slot])
        keys = weights["net.text_k.weight"][..., 0] @ text + weights["net.text_k.bias"][:, None]
        heard = attend(linear(weights, "net.state_q", h1[0]), keys, text)
        query, found = linear(weights, "net.text_q", heard), []
        for one, name in zip(places, ("net.rgb_kv", "net.depth_kv"), strict=True):
            both = weights[f"{name}.weight"][..., 0] @ one + weights[f"{name}.bias"][:, None]
            found.append(attend(query, both[:256], both[256:]))
        x = linear(weights, "net.second_state_compress.0", torch.cat((h1[0], heard, *found, action))).relu()
        h2 = step_gru(weights, "net.second_state_encoder.rnn.", x[None], h2)
        out = h2
        if "net.out_layer.0.weight" in weights:
            out = linear(weights, "net.out_layer.0", torch.cat((h2, pool), 1)).relu()
        states.append((h1, h2, torch.maximum(pool, h1)))
        rows.append(linear(weights, "action_distribution.linear", out)[0])
    return torch.stack(rows), torch.zeros(slots), states


CLIP = "net.visual_encoder.backbone."


def goat_shapes(vector, actions=7):
    """Keys and shapes of GOAT-Bench's policies, whose goals have `vector` numbers."""
    shapes = {}

    def norm(name, planes):
        for leaf in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{name}.{leaf}"] = (planes,)
        shapes[f"{name}.num_batches_tracked"] = ()

    for number, (into, out) in enumerate(((3, 32), (32, 32), (32, 64)), 1):
        shapes[f"{CLIP}conv{number}.weight"] = (out, into, 3, 3)
        norm(f"{CLIP}bn{number}", out)
    into = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        planes = 64 * 2**stage
        for block in range(blocks):
            name = f"{CLIP}layer{stage + 1}.{block}."
            sides = ((into, planes, 1), (planes, planes, 3), (planes, 4 * planes, 1))
            for number, (given, out, kernel) in enumerate(sides, 1):
                shapes[f"{name}conv{number}.weight"] = (out, given, kernel, kernel)
                norm(f"{name}bn{number}", out)
            if block == 0:
                shapes[f"{name}downsample.0.weight"] = (4 * planes, into, 1, 1)
                norm(f"{name}downsample.1", 4 * planes)
            into = 4 * planes
    return shapes | {
        "net.visual_fc.0.weight": (512, 2048),
        "net.visual_fc.0.bias": (512,),
        "net.gps_embedding.weight": (32, 2),
        "net.gps_embedding.bias": (32,),
        "net.compass_embedding.weight": (32, 2),
        "net.compass_embedding.bias": (32,),
        "net.prev_action_embedding.weight": (actions + 1, 32),
        **recurrent_shapes("net.state_encoder.rnn.", 4, 512 + vector + 96, 512, 2),
        "action_distribution.linear.weight": (actions, 512),
        "action_distribution.linear.bias": (actions,),
        "critic.fc.weight": (1, 512),
        "critic.fc.bias": (1,),
    }


def run_goat(weights, seen, previous, state, goal):
    """`previous` are actions + 1, 0 at the start; `goal` is the name of the goal's vector."""

    def norm(x, name):
        mean, variance = weights[f"{CLIP}{name}.running_mean"], weights[f"{CLIP}{name}.running_var"]
        return F.batch_norm(x, mean, variance, weights[f"{CLIP}{name}.weight"], weights[f"{CLIP}{name}.bias"])

    def conv(x, name, stride=1):
        weight = weights[f"{CLIP}{name}.weight"]
        return F.conv2d(x, weight, None, stride, weight.shape[-1] // 2)

    x = F.interpolate(seen["rgb"].float().permute(0, 3, 1, 2), size=(224, 224), mode="area").floor() / 255
    mean = torch.tensor([0.48145466, 0.4578275, 0.40821073])[:, None, None]
    x = (x - mean) / torch.tensor([0.26862954, 0.26130258, 0.27577711])[:, None, None]
    for number, stride in ((1, 2), (2, 1), (3, 1)):
        x = norm(conv(x, f"conv{number}", stride), f"bn{number}").relu()
    x = F.avg_pool2d(x, 2)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            name, halves = f"layer{stage + 1}.{block}.", stage > 0 and block == 0
            y = norm(conv(x, f"{name}conv1"), f"{name}bn1").relu()
            y = norm(conv(y, f"{name}conv2"), f"{name}bn2").relu()
            y = norm(conv(F.avg_pool2d(y, 2) if halves else y, f"{name}conv3"), f"{name}bn3")
            if block == 0:
                x = F.avg_pool2d(x, 2) if halves else x
                x = norm(conv(x, f"{name}downsample.0"), f"{name}downsample.1")
            x = (x + y).relu()
    angle = seen["compass"][:, 0]
    parts = [
        linear(weights, "net.visual_fc.0", x.flatten(2).mean(2)).relu(),
        seen[goal],
        linear(weights, "net.compass_embedding", torch.stack((angle.cos(), angle.sin()), 1)),
        linear(weights, "net.gps_embedding", seen["gps"]),
        weights["net.prev_action_embedding.weight"][previous],
    ]
    x = torch.cat(parts, 1)
    state = [(torch.zeros(len(x), 512),) * 2] * 2 if state is None else state
    x, state = step_lstm(weights, "net.state_encoder.rnn.", x, state)
    return linear(weights, "action_distribution.linear", x), linear(weights, "critic.fc", x)[:, 0], state
