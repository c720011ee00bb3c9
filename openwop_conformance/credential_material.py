"""What looks like credential material in a text: token formats known to detect-secrets, and a few that it lacks.

Values are judged, never names; placeholders, hashes and UUIDs are nobody's secret.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector

MAX_TEXT = 200_000
REMEMBERED = 2_000
LIKELY_LENGTH = 6
_PLUGINS: tuple[RegexBasedDetector, ...] = (
    AWSKeyDetector(),
    AzureStorageKeyDetector(),
    BasicAuthDetector(),
    DiscordBotTokenDetector(),
    GitHubTokenDetector(),
    GitLabTokenDetector(),
    JwtTokenDetector(),
    MailchimpDetector(),
    NpmDetector(),
    OpenAIDetector(),
    PrivateKeyDetector(),
    PypiTokenDetector(),
    SendGridDetector(),
    SlackDetector(),
    SquareOAuthDetector(),
    StripeDetector(),
    TelegramBotTokenDetector(),
)
_ASSIGNED = (
    r"(?i:\b(?:api[_-]?key|access[_-]?token|client[_-]?secret|password|passwd)\s*[=:]\s*[\"']?)"
    r"(?=[^\s\"',;&]*[0-9])(?=[^\s\"',;&]*[A-Za-z])[A-Za-z0-9_~+/!@#%^]{12,}"
)
_LACKING = (
    ("GitHub Fine-Grained Token", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    ("Google API Key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("Google OAuth Secret", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("Google OAuth Token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("Shopify Token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("DigitalOcean Token", r"\bdo[oprt]_v1_[0-9a-f]{64}"),
    ("Twilio API Key", r"\bSK[0-9a-f]{32}\b"),
    ("Azure SAS Signature", r"[?&]sig=[A-Za-z0-9%+/]{40,}"),
    ("Password in URL", r"\b[a-z][a-z0-9+.-]{2,15}://[^\s:/@<>{}$]+:(?=[^@]*[A-Za-z])[^\s:/@<>{}$]{3,}@[A-Za-z0-9.-]+"),
    (
        "Prefixed API Key",
        r"\b(?:sk|rk|pk)[-_](?:[A-Za-z0-9]+[-_])*(?=[A-Za-z0-9]*[0-9])[A-Za-z0-9]{16,}",
    ),
    ("Hugging Face Token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("Slack App Token", r"\bxapp-[0-9]-[A-Za-z0-9-]{20,}"),
    (
        "Authorization Header",
        r"(?i:\b(?:bearer|basic|authorization: token)\s+)(?=\S*[0-9])(?=\S*[A-Za-z])[\w.~+/-]{12,}=*",
    ),
    ("Assigned Secret", _ASSIGNED),
)
_KINDS = tuple((plugin.secret_type, pattern) for plugin in _PLUGINS for pattern in plugin.denylist) + tuple(
    (kind, re.compile(pattern)) for kind, pattern in _LACKING
)
_PLACEHOLDER = re.compile(
    r"…|\.\.\.|[<>{}$*]|(?i:your|example|placeholder|changeme|change-me|redacted|insert|x{4,}|0{8,})|"
    r"\.signature\b|//(?i:user(?:name)?):(?i:pass(?:word)?|pw|secret)@"
)
_REST = re.compile(r"[A-Za-z0-9._~+/=-]*")
_KEY_END = re.compile(r"-----END [A-Z ]*-----")
_KEY_BODY = re.compile(
    r"[^\n\\]{0,20}?-----(?:(?:\\[rn]|[\r\n])+(?:[A-Za-z-]+: [^\n]*\s+)*[A-Za-z0-9+/]{6,}|\s*[A-Za-z0-9+/]{24,})"
)
_RUN = re.compile(r"[a-z]{4,}")
_LOOSE = frozenset({"Assigned Secret", "Prefixed API Key", "Authorization Header"})
_BLAND = re.compile(
    r"(?i:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}|"
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
)
_NAMED = re.compile(r"(?i:(?:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|token|credentials?)$)")


@dataclass(frozen=True, slots=True)
class Material:
    """One piece of it: what kind, and where in the text. The value itself stays out of sight."""

    kind: str
    start: int
    end: int


def find_material(text: str) -> tuple[Material, ...]:
    """Every piece in a text, in order; of pieces that overlap only the first and longest.

    A run meets the same texts again and again, in lists, filtered lists and tools by id.
    """
    return _remembered(text) if len(text) <= REMEMBERED else _pieces(text[:MAX_TEXT])


def _pieces(text: str) -> tuple[Material, ...]:
    kept: list[Material] = []
    for one in sorted(_candidates(text), key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


_remembered = lru_cache(maxsize=16_384)(_pieces)


def without_material(text: str) -> str:
    """A text in which credential material is replaced by a word for it."""
    for one in reversed(find_material(text)):
        text = f"{text[: one.start]}[{one.kind}]{text[one.end :]}"
    return text


def _candidates(text: str) -> Iterator[Material]:
    for kind, pattern in _KINDS:
        for match in pattern.finditer(text):
            if not is_placeholder(match.group(), loose=kind in _LOOSE) and _has_key(
                kind, text, match.start(), match.end()
            ):
                yield Material(kind, match.start(), _end(kind, text, match.end()))


def _has_key(kind: str, text: str, start: int, end: int) -> bool:
    """Whether a text that speaks of a key has one: prose names the header of key files, and words joined by signs."""
    if kind == PrivateKeyDetector.secret_type:
        return bool(_KEY_BODY.match(text, end))
    value = re.split(r"[\s=:]", text[start:end])[-1]
    return kind not in _LOOSE or len(set(_RUN.findall(value))) < 2  # noqa: PLR2004 - two words and more make a phrase


def _end(kind: str, text: str, end: int) -> int:
    """Where a piece really ends: detectors stop as soon as they are sure."""
    if kind == PrivateKeyDetector.secret_type:
        closing = _KEY_END.search(text, end)
        return closing.end() if closing else len(text)
    rest = _REST.match(text, end)
    return rest.end() if rest else end


def is_placeholder(value: str, *, loose: bool = True) -> bool:
    """Whether a value only stands for a secret: a blank to fill in, a published example, or, if `loose`, a hash."""
    if not loose:
        return bool(_PLACEHOLDER.search(value))
    secret = re.split(r"[\s=:]", value)[-1]
    bare = re.sub(r"^[a-z]+[-_]", "", secret)
    return bool(_PLACEHOLDER.search(value) or _BLAND.fullmatch(secret) or _BLAND.fullmatch(bare))


def looks_chosen(name: str, value: str) -> bool:
    """Whether a value under a name for secrets looks like one that somebody chose: one word, and no plain one."""
    if not _NAMED.search(name) or len(value) < LIKELY_LENGTH or is_placeholder(value) or _BLAND.fullmatch(value):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and not re.search(r"\s|://", value)
