"""The papers' networks once more, as plain functions of the reference code's weights: for published files.

Each takes `weights` by the reference code's keys and returns (logits, values, state).
"""

import math

from navarena.learning.tensors import torch

F = torch.nn.functional


def make_weights(shapes, seed=0):
    """Random weights; those by which something is divided stay positive."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name, shape in shapes.items():
        values = torch.randn(shape, generator=generator)
        if name.endswith("num_batches_tracked"):
            weights[name] = torch.tensor(7)
        elif name.endswith(("_var", "_count", "running_var")):
            weights[name] = values.abs() + 0.5
        else:
            fan_in = math.prod(shape[1:]) if len(shape) > 1 else 4
            weights[name] = values / math.sqrt(max(fan_in, 1))
    return weights


def linear(weights, name, x):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def recurrent_shapes(prefix, gates, inputs, hidden, layers):
    shapes = {}
    for layer in range(layers):
        shapes[f"{prefix}weight_ih_l{layer}"] = (gates * hidden, inputs if layer == 0 else hidden)
        shapes[f"{prefix}weight_hh_l{layer}"] = (gates * hidden, hidden)
        shapes[f"{prefix}bias_ih_l{layer}"] = shapes[f"{prefix}bias_hh_l{layer}"] = (gates * hidden,)
    return shapes


def step_gru(weights, prefix, x, h):
    into = x @ weights[f"{prefix}weight_ih_l0"].T + weights[f"{prefix}bias_ih_l0"]
    back = h @ weights[f"{prefix}weight_hh_l0"].T + weights[f"{prefix}bias_hh_l0"]
    (ir, iz, inew), (hr, hz, hnew) = into.chunk(3, 1), back.chunk(3, 1)
    r, z = torch.sigmoid(ir + hr), torch.sigmoid(iz + hz)
    return (1 - z) * torch.tanh(inew + r * hnew) + z * h


def step_lstm(weights, prefix, x, states):
    after = []
    for layer, (h, c) in enumerate(states):
        gates = x @ weights[f"{prefix}weight_ih_l{layer}"].T + weights[f"{prefix}bias_ih_l{layer}"]
        gates = gates + h @ weights[f"{prefix}weight_hh_l{layer}"].T + weights[f"{prefix}bias_hh_l{layer}"]
        i, f, g, o = gates.chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        x = torch.sigmoid(o) * torch.tanh(c)
        after.append((x, c))
    return x, after


MULTION_SHAPES = {
    "net.visual_encoder.cnn.0.weight": (32, 4, 8, 8),
    "net.visual_encoder.cnn.0.bias": (32,),
    "net.visual_encoder.cnn.2.weight": (64, 32, 4, 4),
    "net.visual_encoder.cnn.2.bias": (64,),
    "net.visual_encoder.cnn.4.weight": (32, 64, 3, 3),
    "net.visual_encoder.cnn.4.bias": (32,),
    "net.visual_encoder.cnn.6.weight": (512, 25088),
    "net.visual_encoder.cnn.6.bias": (512,),
    "net.goal_embedding.weight": (8, 32),
    "net.action_embedding.weight": (4, 32),
    **recurrent_shapes("net.state_encoder.rnn.", 3, 576, 512, 1),
    "action_distribution.linear.weight": (4, 512),
    "action_distribution.linear.bias": (4,),
    "critic.fc.weight": (1, 512),
    "critic.fc.bias": (1,),
}


def run_multion(weights, seen, previous, state):
    """`previous` are actions, 0 at the start."""
    x = torch.cat((seen["rgb"] / 255, seen["depth"].float()), 3).permute(0, 3, 1, 2)
    for number, stride, rectifies in ((0, 4, True), (2, 2, True), (4, 1, False)):
        name = f"net.visual_encoder.cnn.{number}"
        x = F.conv2d(x, weights[f"{name}.weight"], weights[f"{name}.bias"], stride)
        x = x.relu() if rectifies else x
    x = linear(weights, "net.visual_encoder.cnn.6", x.flatten(1)).relu()
    goal = weights["net.goal_embedding.weight"][seen["multiobjectgoal"][:, 0]]
    x = torch.cat((x, goal, weights["net.action_embedding.weight"][previous]), 1)
    state = torch.zeros(len(x), 512) if state is None else state
    h = step_gru(weights, "net.state_encoder.rnn.", x, state)
    return linear(weights, "action_distribution.linear", h), linear(weights, "critic.fc", h)[:, 0], h


def habitat_shapes(depth, channels, goal, actions):
    """Keys and shapes of DD-PPO's policies: `goal` is "pointnav" (not normalised) or "objectnav"."""
    visual = "net.visual_encoder."
    shapes = {f"{visual}backbone.conv1.0.weight": (32, channels, 7, 7)}

    def norm(name, planes):
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (planes,)

    norm(f"{visual}backbone.conv1.1", 32)
    width, wide = 32, 4 if depth == 50 else 1
    for stage, blocks in enumerate((3, 4, 6, 3) if depth == 50 else (2, 2, 2, 2)):
        planes = 32 * 2**stage
        for block in range(blocks):
            name = f"{visual}backbone.layer{stage + 1}.{block}."
            if depth == 50:
                rows = ((0, width, planes, 1), (3, planes, planes, 3), (6, planes, planes * 4, 1))
            else:
                rows = ((0, width, planes, 3), (3, planes, planes, 3))
            for number, into, out, kernel in rows:
                shapes[f"{name}convs.{number}.weight"] = (out, into, kernel, kernel)
                norm(f"{name}convs.{number + 1}", out)
            if block == 0 and (stage or depth == 50):
                shapes[f"{name}downsample.0.weight"] = (planes * wide, width, 1, 1)
                norm(f"{name}downsample.1", planes * wide)
            width = planes * wide
    shapes[f"{visual}compression.0.weight"] = (128, width, 3, 3)
    norm(f"{visual}compression.1", 128)
    numbers = 32 if goal == "pointnav" else 96
    shapes |= {
        "net.visual_fc.1.weight": (512, 2048),
        "net.visual_fc.1.bias": (512,),
        "net.prev_action_embedding.weight": (actions + 1, 32),
        **recurrent_shapes("net.state_encoder.rnn.", 4, 512 + numbers + 32, 512, 2),
        "action_distribution.linear.weight": (actions, 512),
        "action_distribution.linear.bias": (actions,),
        "critic.fc.weight": (1, 512),
        "critic.fc.bias": (1,),
    }
    if goal == "pointnav":
        return shapes | {"net.tgt_embeding.weight": (32, 3), "net.tgt_embeding.bias": (32,)}
    return shapes | {
        f"{visual}running_mean_and_var._mean": (1, channels, 1, 1),
        f"{visual}running_mean_and_var._var": (1, channels, 1, 1),
        f"{visual}running_mean_and_var._count": (),
        "net.obj_categories_embedding.weight": (21, 32),
        "net.gps_embedding.weight": (32, 2),
        "net.gps_embedding.bias": (32,),
        "net.compass_embedding.weight": (32, 2),
        "net.compass_embedding.bias": (32,),
    }


def run_habitat(weights, seen, previous, state, names=("rgb", "depth")):
    """`previous` are actions + 1, 0 at the start."""
    visual = "net.visual_encoder."
    parts = []
    for one in names:
        if one in seen:
            # the protocols' images are 480 x 640: 256 x 341, of which the middle 256
            area = F.interpolate(seen[one].float().permute(0, 3, 1, 2), size=(256, 341), mode="area")
            cut = area[:, :, :, 170 - 128 : 170 + 128]
            parts.append(cut.floor() / 255 if one == "rgb" else cut)
    x = F.avg_pool2d(torch.cat(parts, 1), 2)
    if f"{visual}running_mean_and_var._mean" in weights:
        variance = weights[f"{visual}running_mean_and_var._var"].clamp(min=1e-2)
        x = (x - weights[f"{visual}running_mean_and_var._mean"]) / variance.sqrt()

    def conv(x, name, stride=1):
        weight = weights[f"{visual}{name}.weight"]
        return F.conv2d(x, weight, None, stride, weight.shape[-1] // 2)

    def norm(x, name, groups=16):
        return F.group_norm(x, groups, weights[f"{visual}{name}.weight"], weights[f"{visual}{name}.bias"])

    x = F.max_pool2d(norm(conv(x, "backbone.conv1.0", 2), "backbone.conv1.1").relu(), 3, 2, 1)
    for stage in range(4):
        for block in range(9):
            name = f"backbone.layer{stage + 1}.{block}."
            if f"{visual}{name}convs.0.weight" not in weights:
                break
            stride = 2 if stage and not block else 1
            deep = f"{visual}{name}convs.6.weight" in weights
            y = norm(conv(x, f"{name}convs.0", 1 if deep else stride), f"{name}convs.1").relu()
            y = norm(conv(y, f"{name}convs.3", stride if deep else 1), f"{name}convs.4")
            y = norm(conv(y.relu(), f"{name}convs.6"), f"{name}convs.7") if deep else y
            if f"{visual}{name}downsample.0.weight" in weights:
                x = norm(conv(x, f"{name}downsample.0", stride), f"{name}downsample.1")
            x = (x + y).relu()
    x = norm(conv(x, "compression.0"), "compression.1", 1).relu()
    parts = [linear(weights, "net.visual_fc.1", x.flatten(1)).relu()]
    if "pointgoal_with_gps_compass" in seen:
        r, phi = seen["pointgoal_with_gps_compass"].unbind(1)
        goal = torch.stack((r, torch.cos(-phi), torch.sin(-phi)), 1)
        parts.append(linear(weights, "net.tgt_embeding", goal))
    else:
        parts.append(weights["net.obj_categories_embedding.weight"][seen["objectgoal"][:, 0]])
        angle = seen["compass"][:, 0]
        parts.append(linear(weights, "net.compass_embedding", torch.stack((angle.cos(), angle.sin()), 1)))
        parts.append(linear(weights, "net.gps_embedding", seen["gps"]))
    parts.append(weights["net.prev_action_embedding.weight"][previous])
    x = torch.cat(parts, 1)
    state = [(torch.zeros(len(x), 512),) * 2] * 2 if state is None else state
    x, state = step_lstm(weights, "net.state_encoder.rnn.", x, state)
    return linear(weights, "action_distribution.linear", x), linear(weights, "critic.fc", x)[:, 0], state


def trunk_shapes():
    """Keys and shapes of torchvision's ResNet-18."""
    shapes = {"conv1.weight": (64, 3, 7, 7), "fc.weight": (1000, 512), "fc.bias": (1000,)}

    def norm(name, planes):
        for leaf in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{name}.{leaf}"] = (planes,)
        shapes[f"{name}.num_batches_tracked"] = ()

    norm("bn1", 64)
    width = 64
    for stage in range(4):
        planes = 64 * 2**stage
        for block in range(2):
            name = f"layer{stage + 1}.{block}."
            for number, into in ((1, width), (2, planes)):
                shapes[f"{name}conv{number}.weight"] = (planes, into, 3, 3)
                norm(f"{name}bn{number}", planes)
            if width != planes:
                shapes[f"{name}downsample.0.weight"] = (planes, width, 1, 1)
                norm(f"{name}downsample.1", planes)
            width = planes
    return shapes


def run_trunk(weights, x):
    def norm(x, name):
        mean, variance = weights[f"{name}.running_mean"], weights[f"{name}.running_var"]
        return F.batch_norm(x, mean, variance, weights[f"{name}.weight"], weights[f"{name}.bias"])

    x = F.max_pool2d(norm(F.conv2d(x, weights["conv1.weight"], None, 2, 3), "bn1").relu(), 3, 2, 1)
    for stage in range(4):
        for block in range(2):
            name, stride = f"layer{stage + 1}.{block}.", 2 if stage and not block else 1
            y = norm(F.conv2d(x, weights[f"{name}conv1.weight"], None, stride, 1), f"{name}bn1").relu()
            y = norm(F.conv2d(y, weights[f"{name}conv2.weight"], None, 1, 1), f"{name}bn2")
            if f"{name}downsample.0.weight" in weights:
                x = F.conv2d(x, weights[f"{name}downsample.0.weight"], None, stride)
                x = norm(x, f"{name}downsample.1")
            x = (x + y).relu()
    return x


def robustnav_shapes(goal, actions, modalities):
    """Keys and shapes of RobustNav's policies: `goal` is "pointnav" or "objectnav"."""
    encoder, shapes = "goal_visual_encoder.", {}
    if goal == "pointnav":
        shapes |= {f"{encoder}embed_goal.weight": (32, 2), f"{encoder}embed_goal.bias": (32,)}
    else:
        shapes[f"{encoder}embed_class.weight"] = (12, 32)
    for prefix in [f"{one}_" for one in modalities] if len(modalities) == 2 else [""]:
        for part, into in (("resnet_compressor", 512), ("target_obs_combiner", 64)):
            for number, sides in ((0, (128, into)), (2, (32, 128))):
                shapes[f"{encoder}{prefix}{part}.{number}.weight"] = (*sides, 1, 1)
                shapes[f"{encoder}{prefix}{part}.{number}.bias"] = sides[:1]
    return shapes | {
        **recurrent_shapes("state_encoder.rnn.", 3, 1568 * len(modalities), 512, 1),
        "actor.linear.weight": (actions, 512),
        "actor.linear.bias": (actions,),
        "critic.fc.weight": (1, 512),
        "critic.fc.bias": (1,),
    }


def run_robustnav(weights, trunk, seen, modalities, state):
    encoder, parts = "goal_visual_encoder.", []
    if "objectgoal" in seen:
        goal = weights[f"{encoder}embed_class.weight"][seen["objectgoal"][:, 0]]
    else:
        goal = linear(weights, f"{encoder}embed_goal", seen["pointgoal_with_gps_compass"])
    for one in modalities:
        x = seen[one].float().permute(0, 3, 1, 2)
        if one == "rgb":
            mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
            x = (x / 255 - mean[:, None, None]) / deviation[:, None, None]
        else:
            x = ((x - 0.5) / 0.25).repeat(1, 3, 1, 1)
        x = run_trunk(trunk, x)
        prefix = f"{encoder}{one}_" if len(modalities) == 2 else encoder
        for part, rectifies in (("resnet_compressor", True), ("target_obs_combiner", False)):
            if part == "target_obs_combiner":
                x = torch.cat((x, goal[:, :, None, None].repeat(1, 1, 7, 7)), 1)
            for number in (0, 2):
                name = f"{prefix}{part}.{number}"
                x = F.conv2d(x, weights[f"{name}.weight"], weights[f"{name}.bias"])
                x = x.relu() if rectifies or number == 0 else x
        parts.append(x)
    x = torch.cat(parts, 1).flatten(1)
    state = torch.zeros(len(x), 512) if state is None else state
    h = step_gru(weights, "state_encoder.rnn.", x, state)
    return linear(weights, "actor.linear", h), linear(weights, "critic.fc", h)[:, 0], h
