"""What Stable Baselines had here works on TensorFlow's graph; torch has its own words for it."""

from __future__ import annotations

from typing import Any

from rlk_baselines.refusals import belongs_to_tensorflow

#: Its names, and what to write instead.
_INSTEAD = {
    "avg_norm": "tensor.flatten(1).norm(dim=1).mean()",
    "batch_to_seq": "tensor.unflatten(0, (n_envs, n_steps)).unbind(1)",
    "calc_entropy": "torch.distributions.Categorical(logits=logits).entropy()",
    "check_shape": "assert tensor.shape == shape",
    "flatgrad": "torch.nn.utils.parameters_to_vector(torch.autograd.grad(loss, parameters))",
    "function": "a function of Python: torch computes at once",
    "get_globals_vars": "model.get_parameters()",
    "get_trainable_vars": "model.get_parameters()",
    "gradient_add": "grad_1 + grad_2",
    "huber_loss": "torch.nn.functional.huber_loss",
    "in_session": "nothing: there is no session",
    "initialize": "nothing: torch's parameters have values from the start",
    "intprod": "math.prod",
    "is_image": "rlk.spaces.is_image(observation_space)",
    "make_session": "n_cpu_tf_sess=… of the model: there is no session",
    "mse": "torch.nn.functional.mse_loss",
    "numel": "tensor.numel()",
    "outer_scope_getter": "nothing: there are no scopes",
    "q_explained_variance": "rlk_baselines.common.math_util.explained_variance",
    "sample": "torch.distributions.Categorical(logits=logits).sample()",
    "seq_to_batch": "torch.stack(tensors, 1).flatten(0, 1)",
    "single_threaded_session": "n_cpu_tf_sess=1 of the model: there is no session",
    "total_episode_reward_logger": "tensorboard_log=… of the model, which writes episode_reward",
    "var_shape": "tensor.shape",
}


def __getattr__(name: str) -> Any:
    raise belongs_to_tensorflow(__name__, name, _INSTEAD)
