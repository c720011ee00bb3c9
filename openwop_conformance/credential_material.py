"""What looks like credential material in a text: token formats known to detect-secrets, and a few that it lacks.

Values are judged, never names; placeholders, hashes and UUIDs are nobody's secret.
"""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
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
REMEMBERED = 16_000
STEP = 4_000
OVERLAP = 600
LIKELY_LENGTH = 6
_PLUGINS: tuple[RegexBasedDetector, ...] = (
    AWSKeyDetector(),
    AzureStorageKeyDetector(),
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
_VALUE = r"\s*[=:]\s*[\"']?(?=[^\s\"',;&]*[0-9])(?=[^\s\"',;&]*[A-Za-z])[A-Za-z0-9_~+/!@#%^$.-]{12,200}"
_ASSIGNED = (
    r"(?i:(?<![a-z])(?:api[_-]?key|access[_-]?token|auth[_-]?token|(?:client|app|shared)[_-]?secret|"
    rf"secret[_-]?(?:access[_-]?)?key|password|passwd|pwd)){_VALUE}"
)
_USERINFO = (
    r"\b[a-z][a-z0-9+.-]{2,15}://[^\s:/@<>{}$]{0,100}:(?=[^\s/@]{0,100}[A-Za-z])[^\s:/@<>{}]{3,100}@"
    r"(?:[A-Za-z0-9-]+\.[A-Za-z0-9.-]+|localhost\b|[A-Za-z0-9-]+(?=[:/]))"
)
_LACKING = (
    ("GitHub Fine-Grained Token", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    ("Google API Key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("Google OAuth Secret", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("Google OAuth Token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("Shopify Token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("DigitalOcean Token", r"\bdo[oprt]_v1_[0-9a-f]{64}"),
    ("Twilio API Key", r"\bSK[0-9a-f]{32}\b"),
    ("npm Token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("Vault Token", r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}"),
    ("Docker Token", r"\bdckr_pat_[A-Za-z0-9_-]{20,}"),
    ("Linear API Key", r"\blin_api_[A-Za-z0-9]{32,}"),
    ("Notion Token", r"\bntn_[A-Za-z0-9]{40,}"),
    ("age Secret Key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("PuTTY Private Key", r"PuTTY-User-Key-File-[0-9]: [^\n]*\n(?:[^\n]*\n){1,20}?Private-Lines: [0-9]+"),
    ("Azure SAS Signature", r"[?&]sig=[A-Za-z0-9%+/]{40,}"),
    (PrivateKeyDetector.secret_type, r"BEGIN ENCRYPTED PRIVATE KEY"),
    ("Password in URL", _USERINFO),
    (
        "Prefixed API Key",
        r"\bsk[-_](?:(?:[A-Za-z0-9]{1,30}[-_]){0,4}(?=[A-Za-z0-9]{0,100}[0-9])[A-Za-z0-9]{16,}|(?=[\w-]{0,100}[0-9])[\w-]{32,})",
    ),
    ("Hugging Face Token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("Slack App Token", r"\bxapp-[0-9]-[A-Za-z0-9-]{20,}"),
    (
        "Authorization Header",
        r"(?i:\bauthorization\"?\s*:\s*\"?(?:[a-z]+\s+)?)(?=\S*[0-9])(?=\S*[A-Za-z])[\w.~+/-]{12,}+=*+",
    ),
    ("Bearer Token", r"(?i:\bbearer\s+)(?=[\w.~+/-]*[0-9])(?=[\w.~+/-]*[A-Za-z])[\w.~+/-]{12,}+=*+(?![\"\w])"),
    ("Basic Credentials", r"(?i:\bbasic\s+)[A-Za-z0-9+/]{8,}+={0,2}+(?![\w\"-])"),
    ("Assigned Secret", _ASSIGNED),
    ("Assigned Token", rf"(?i:(?<![a-z])(?:token|secret)){_VALUE}"),
)
_KINDS = tuple((plugin.secret_type, pattern) for plugin in _PLUGINS for pattern in plugin.denylist) + tuple(
    (kind, re.compile(pattern)) for kind, pattern in _LACKING
)
_PLACEHOLDER = re.compile(
    r"…|\.\.\.|[<>{}]|\*{3}|(?<![A-Za-z0-9$])\$[A-Za-z_{]|%24|%7B|"
    r"(?i:your|example|placeholder|changeme|change-me|redacted|insert|x{4,}|0{8,})|\.signature\b|"
    r"//(?i:user(?:name)?):(?i:pass(?:word)?|pw|secret)@|//([^:/@]+):\1@|//(?i:anonymous):"
)
_PUBLISHED = frozenset(
    {
        "QWxhZGRpbjpvcGVuIHNlc2FtZQ", "QWxhZGRpbjpPcGVuU2VzYW1l", "dGVzdDoxMjPCow", "2YotnFZFEjr1zCsicMWpAA",
        "mF_9.B5f-4.1JqM", "czZCaGRSa3F0MzpnWDFmQmF0M2JW", "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    }
)  # fmt: skip
_REST = re.compile(r"[A-Za-z0-9._~+/=-]*")
_KEY_END = re.compile(r"-----END [A-Z ]*-----")
_KEY_BODY = re.compile(
    r"[^\n\\]{0,20}?-----(?:(?:\\[rn]|[\r\n])+(?:[A-Za-z-]+: [^\n]*\s+)*[A-Za-z0-9+/]{6,}|\s*[A-Za-z0-9+/]{24,})"
)
_WORD = re.compile(
    r"(?:[a-z]+|[A-Z]+s?|[A-Z][a-z]+|[a-z]+(?:[A-Z][a-z]+){1,3}|(?:[A-Z][a-z]*){2,4})?[0-9]*|[0-9]+[a-z]*"
)
_DESCRIBING = re.compile(r"(?i:min|max|chars|characters?|digits?|letters?|hex|bytes|bits|encoded|hashed)(?![a-z]{4})")
_SCHEME_KINDS = frozenset({"Authorization Header", "Bearer Token"})
_LOOSE = frozenset({*_SCHEME_KINDS, "Assigned Secret", "Assigned Token", "Prefixed API Key"})
_HASHES_TOO = frozenset({"Authorization Header", "Assigned Secret"})
_BLAND = re.compile(
    r"(?i:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}|"
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
)
_NAMED = re.compile(r"(?i:(?:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|token|credentials?)$)")


_LONG = frozenset({PrivateKeyDetector.secret_type, "PuTTY Private Key"})


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


_remembered = lru_cache(maxsize=4_096)(_pieces)


def without_material(text: str) -> str:
    """A text in which credential material is replaced by a word for it."""
    for one in reversed(find_material(text)):
        text = f"{text[: one.start]}[{one.kind}]{text[one.end :]}"
    return text


def _candidates(text: str) -> Iterator[Material]:
    """Whatever a pattern finds; long texts are looked at piece by piece, since some patterns take their time."""
    for kind, pattern in _KINDS:
        step = len(text) or 1 if kind in _LONG else STEP
        for start in range(0, len(text), step):
            for match in pattern.finditer(text, start, start + step + OVERLAP):
                end = _end(kind, text, match.end())
                if not is_placeholder(text[match.start() : end], kind) and _has_key(kind, text, *match.span()):
                    yield Material(kind, match.start(), end)


def _has_key(kind: str, text: str, start: int, end: int) -> bool:
    """Whether a text that speaks of a key has one: prose names the header of key files, and words joined by signs."""
    if kind == PrivateKeyDetector.secret_type:
        return bool(_KEY_BODY.match(text, end))
    value = re.split(r"[\s=:\"']+", text[start:end].rstrip("="))[-1]
    if kind == "Basic Credentials":
        return _is_name_and_password(value)
    return kind not in _LOOSE or not _is_phrase(value)


def _is_phrase(value: str) -> bool:
    """Whether a value is made of words, such as oauth2/client-credentials, or describes what it should be."""
    parts = re.split(r"[-_./+~]", value)
    return all(map(_WORD.fullmatch, parts)) or bool(_DESCRIBING.search(value))


def _is_name_and_password(value: str) -> bool:
    try:
        told = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in told and told.isprintable()


def _end(kind: str, text: str, end: int) -> int:
    """Where a piece really ends: detectors stop as soon as they are sure."""
    if kind == PrivateKeyDetector.secret_type:
        closing = _KEY_END.search(text, end)
        return closing.end() if closing else len(text)
    rest = _REST.match(text, end)
    return rest.end() if rest else end


def is_placeholder(value: str, kind: str = "Assigned Token") -> bool:
    """Whether a value only stands for a secret: a blank to fill in, a published example, or, for some kinds, a hash."""
    secret = re.split(r"[\s=:\"']+", value.rstrip("="))[-1]
    if _PLACEHOLDER.search(value) or secret in _PUBLISHED or secret.rpartition(".")[2] in _PUBLISHED:
        return True
    if kind not in _LOOSE or kind in _HASHES_TOO:
        return False
    return bool(_BLAND.fullmatch(secret) or _BLAND.fullmatch(re.sub(r"^[a-z]+[-_]", "", secret)))


def looks_chosen(name: str, value: str) -> bool:
    """Whether a value under a name for secrets looks like one that somebody chose: one word, and no plain one."""
    if not _NAMED.search(name) or len(value) < LIKELY_LENGTH or is_placeholder(value) or _BLAND.fullmatch(value):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and not re.search(r"\s|://", value)
