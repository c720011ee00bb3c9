"""Whether a requirement may be exercised on this host in this run, and what it becomes if not."""

from dataclasses import dataclass

from openwop_conformance.capabilities import Advertised, Capabilities
from openwop_conformance.requirements import Need, Registry, Requirement
from openwop_conformance.settings import Settings
from openwop_conformance.verdicts import Verdict

NO_HOST = "no host given"


@dataclass(frozen=True, slots=True)
class Closed:
    """A gate that is shut: the verdict that follows, or None where the requirement does not apply at all."""

    verdict: Verdict | None
    reason: str
    demanded: bool = True


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides by what the host advertises and by what the settings supply."""

    registry: Registry
    settings: Settings
    capabilities: Capabilities
    unobservable: str | None = None

    def closed(self, requirement: Requirement) -> Closed | None:
        """None where the requirement may be exercised."""
        if self.unobservable is not None:
            return Closed(Verdict.INCONCLUSIVE, self.unobservable)
        shut = self._unadvertised(requirement) or self._inapplicable(requirement) or self._unsupplied(requirement)
        if shut is not None and shut.verdict is Verdict.BLOCKED and self.excused(requirement.profile):
            return Closed(Verdict.OPTED_OUT, f"the profile {requirement.profile} was opted out of")
        return shut

    def excused(self, profile: str) -> bool:
        """Whether a profile was opted out of, and the host does not advertise it all the same."""
        return profile in self.settings.opt_outs and not self.advertises_profile(profile)

    def _unclear(self, capability: str) -> Closed:
        if self.capabilities.document is None:
            return Closed(Verdict.BLOCKED, "the discovery document could not be read")
        return Closed(Verdict.BLOCKED, f"the discovery document leaves open whether {capability} is true")

    def _unadvertised(self, requirement: Requirement) -> Closed | None:
        for capability in requirement.capabilities:
            said = self.capabilities.advertised(capability)
            if said is Advertised.UNCLEAR:
                return self._unclear(capability)
            if said is Advertised.NO:
                profile = requirement.profile
                if self.excused(profile):
                    return Closed(Verdict.OPTED_OUT, f"the profile {profile} was opted out of")
                owner = self.registry.profiles[profile].advertised_by
                absent = capability if self.advertises_profile(profile) else owner
                reason = f"the host does not advertise {absent} (profile {profile})"
                return Closed(Verdict.NOT_ADVERTISED, reason, self._demanded(capability))
        return None

    def _inapplicable(self, requirement: Requirement) -> Closed | None:
        for capability in requirement.absences:
            said = self.capabilities.advertised(capability)
            if said is Advertised.YES:
                return Closed(None, f"the host advertises {capability}")
            if said is Advertised.UNCLEAR:
                return self._unclear(capability)
        return None

    def _unsupplied(self, requirement: Requirement) -> Closed | None:
        principals = len(self.settings.principals)
        if Need.PRINCIPAL in requirement.needs and not principals:
            return Closed(Verdict.BLOCKED, "no credential was given; give a token, for example in OPENWOP_API_KEY")
        if Need.SECOND_PRINCIPAL in requirement.needs and principals <= 1 and not self.settings.names_hidden_ids:
            return Closed(
                Verdict.BLOCKED,
                "no second principal and no hidden id was given; give a token, for example in OPENWOP_SECOND_API_KEY",
            )
        return None

    def _demanded(self, capability: str) -> bool:
        """Whether strict mode demands a capability, or a family that holds a demanded one."""
        return any(one == capability or one.startswith(f"{capability}.") for one in self.registry.demanded_capabilities)

    def advertises_profile(self, name: str) -> bool:
        """Whether the host takes a profile on."""
        return self.capabilities.advertised(self.registry.profiles[name].advertised_by) is Advertised.YES

    def missing_profiles(self) -> list[str]:
        """The demanded profiles that the host neither advertises nor was allowed to leave out."""
        return [
            one.name
            for one in self.registry.profiles.values()
            if one.demanded and one.name not in self.settings.opt_outs and not self.advertises_profile(one.name)
        ]

    def contradicted_opt_outs(self) -> list[str]:
        """Opt-outs that do not count because the host advertises the profile."""
        return sorted(name for name in self.settings.opt_outs if self.advertises_profile(name))
