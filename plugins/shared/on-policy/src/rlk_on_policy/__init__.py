"""What on-policy actor-critics share: advantages, minibatches and the actor."""
