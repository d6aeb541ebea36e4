"""Plans, which compare an account with its description, show the changes and their cost, and apply the changes.

Example:
    ::

        from svcnb.toolkit.plan import plan

        difference = plan(svc, "account.toml")
        difference                                # shows the changes and their cost
        difference.apply(secrets="keys.json")     # applies the changes; after a failure, call apply again to continue
"""

from __future__ import annotations

from svcnb.toolkit.plan.description import ActionSpec, Description, GroupSpec, KeySpec, TriggerSpec, WalletSpec
from svcnb.toolkit.plan.planning import Plan, plan
from svcnb.toolkit.plan.secrets import SecretsFile
from svcnb.toolkit.plan.steps import Step

__all__ = [
    "ActionSpec",
    "Description",
    "GroupSpec",
    "KeySpec",
    "Plan",
    "SecretsFile",
    "Step",
    "TriggerSpec",
    "WalletSpec",
    "plan",
]
