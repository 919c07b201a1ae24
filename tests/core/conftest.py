"""No test here is about time: hypothesis must not measure it."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "untimed",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("untimed")
