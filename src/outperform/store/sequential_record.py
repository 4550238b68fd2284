"""What a store keeps of sequential tests: their rules, every look, and what they decided.

Nothing of it is ever taken away: whoever stops, changes the rule and goes on leaves both rules here
with all that was seen, and whatever reads the runs says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from outperform.errors import InvalidInput
from outperform.store.store import Store

Attempt = dict[str, Any]  # one test: rule, n_allowed, why it was begun, looks and decisions
Rule = Mapping[str, Any]
_NAME = "sequential"
_PLANNED = ("upper", "lower", "n_max")  # which follow from the rest, and are kept as planned first
_RESULTS = ("wins", "losses", "ties")
_SHOWN = 3  # tests of which each is described


class SequentialRecord:
    """The sequential tests of a store; the last of them is the one that goes on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.attempts = read_attempts(store)

    def go_on(self, rule: Rule, n_allowed: int, *, new_rule: bool = False) -> Rule:
        """Go on by this rule, with the boundaries planned first, and as many replicates allowed.

        Another rule is refused, unless that is wanted.
        """
        before = self.attempts[-1]["rule"] if self.attempts else None
        if before is not None and is_same_rule(before, rule):
            return dict(before)
        if before is not None and not new_rule:
            raise InvalidInput(
                f"{self._store.address} has been looked at by one rule, {describe_rule(before)}, "
                f"and this is another: {describe_rule(rule)}",
                "Go on by the first, with its options, names and number of replicates; or take "
                "the other with --new-rule (new_rule=True in Python), which every later result of "
                "this store will tell",
            )
        self._begin(rule, n_allowed, "" if before is None else "the rule was changed")
        return dict(rule)

    def add_looks(self, looks: Sequence[Mapping[str, Any]]) -> None:
        """Keep looks, durably, that are not kept yet; it is for before anybody is shown them.

        Where runs that were looked at are others by now, the test has begun anew.
        """
        last = self.attempts[-1]
        known = {_place(look): _leave_out(look, "when") for look in last["looks"]}
        # Two looks at the same pairs may differ by incomplete ones that are complete now.
        before = [(look, known.get(_place(look), look)) for look in looks]
        if any(now[word] < seen[word] for now, seen in before for word in _RESULTS):
            self._begin(last["rule"], last["n_allowed"], "runs had changed since they were seen")
            known = {}
        now = _tell_time()
        fresh = [{**look, "when": now} for look in looks if known.get(_place(look)) != look]
        if fresh:
            self.attempts[-1]["looks"] += fresh
            self._store.set_meta(_NAME, self.attempts)

    def add_decisions(self, decisions: Sequence[Mapping[str, Any]]) -> None:
        """Keep what was decided on each task, durably, unless it is what had been decided."""
        kept = self.attempts[-1]["decisions"]
        last = {each["task"]: _leave_out(each, "when") for each in kept}
        now = _tell_time()
        fresh = [{**each, "when": now} for each in decisions if last.get(each["task"]) != each]
        if fresh:
            kept += fresh
            self._store.set_meta(_NAME, self.attempts)

    def _begin(self, rule: Rule, n_allowed: int, why: str) -> None:
        """Begin a test, which is kept with its first look."""
        attempt = {"rule": dict(rule), "n_allowed": n_allowed, "why": why}
        self.attempts.append({**attempt, "looks": [], "decisions": []})


def read_attempts(store: Store) -> list[Attempt]:
    """Every sequential test that was begun in a store, in order."""
    return list(store.get_meta(_NAME) or [])


def is_same_rule(before: Rule, rule: Rule) -> bool:
    """Whether they differ in nothing that was chosen."""
    return _leave_out(before, *_PLANNED) == _leave_out(rule, *_PLANNED)


def describe_rule(rule: Rule) -> str:
    """Say what a rule is, in words."""
    tasks = f" on {', '.join(rule['tasks'])}" if any(rule["tasks"]) else ""
    return (
        f"{rule['a']} against {rule['b']}{tasks} by Wald's test between ½ and "
        f"γ = {rule['gamma']:g}, α = {rule['alpha']:g}, β = {rule['beta']:g}, at most "
        f"{rule['n_last']} pairs of {rule['design']}"
    )


def describe_attempt(attempt: Attempt) -> str:
    """Say what a rule is and what it has decided, or how far it has come."""
    final = {each["task"]: each for each in attempt["decisions"]}
    if final:
        return f"{describe_rule(attempt['rule'])}: {'; '.join(map(_say_decision, final.values()))}"
    n_pairs = max((look["pairs"] for look in attempt["looks"]), default=0)
    return f"{describe_rule(attempt['rule'])}: looked at after {n_pairs} pairs, not decided yet"


def is_decided(attempt: Attempt) -> bool:
    """Whether a test has ended on every task with a decision."""
    outcomes = {each["task"]: each["outcome"] for each in attempt["decisions"]}
    return bool(outcomes) and "undecided" not in outcomes.values()


def describe_attempts(attempts: Sequence[Attempt], n_replicates: int) -> Iterator[str]:
    """What whoever reads so many replicates must know of the tests that looked at them."""
    if not attempts:
        return
    last = attempts[-1]
    n_pairs = max((each["pairs"] for each in (last["decisions"] or last["looks"])), default=0)
    beyond = ""
    if n_replicates > n_pairs and last["decisions"]:
        beyond = f"; replicates after these, {n_replicates - n_pairs} here, are no part of that"
    yield f"these runs were looked at after every pair, {describe_attempt(last)}{beyond}"
    if len(attempts) > 1:
        yield doubt_attempts(attempts)


def doubt_attempts(attempts: Sequence[Attempt]) -> str:
    """Say that there were several tests, which err more often together than each does."""
    earlier = attempts[:-1][-_SHOWN:]
    more = len(attempts) - 1 - len(earlier)
    and_more = f", and {more} before" if more else ""
    why = ", ".join(dict.fromkeys(each["why"] for each in attempts[1:]))
    return (
        f"{len(attempts)} sequential tests were begun here ({why}), and chances to err add up; "
        f"before the last: {'; '.join(map(describe_attempt, reversed(earlier)))}{and_more}"
    )


def _say_decision(decision: Mapping[str, Any]) -> str:
    on = f" on {decision['task']}" if decision["task"] else ""
    name, n_pairs = decision["winner_name"], decision["pairs"]
    if decision["outcome"] == "undecided":
        return f"undecided{on} after {n_pairs} pairs"
    return f"decided for {name or 'neither'}{on} after {n_pairs} pairs"


def _place(look: Mapping[str, Any]) -> tuple[str, int]:
    return look["task"], look["pairs"]


def _leave_out(kept: Mapping[str, Any], *words: str) -> dict[str, Any]:
    return {key: value for key, value in kept.items() if key not in words}


def _tell_time() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
