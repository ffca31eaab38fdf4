"""What a draft is worth: its α against its cost, as the speed-up that both predict."""

from dataclasses import dataclass

from core.speedup import Costs, best_window, predict_speedup


@dataclass(frozen=True)
class Trade:
    """α and c of one draft; gamma is where the predicted speed-up is greatest."""

    name: str
    parameters: int
    alpha: float
    c: float
    gamma: int
    speedup: float

    @classmethod
    def of(cls, name: str, parameters: int, alpha: float, costs: Costs) -> "Trade":
        """costs: of target passes up to the longest window that is worth a thought."""
        gamma = best_window(alpha, costs)
        speedup = predict_speedup(alpha, costs.within(gamma))
        return cls(name, parameters, alpha, costs.c, gamma, speedup)
