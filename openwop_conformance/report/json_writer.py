"""The JSON report; `schemas/report.schema.json` describes it."""

import json
from dataclasses import asdict
from typing import Any

from openwop_conformance.exchanges import Exchange
from openwop_conformance.findings import Finding
from openwop_conformance.report.model import Result, RunReport


def as_json(report: RunReport) -> dict[str, Any]:
    """The report as plain JSON values."""
    return {
        "suite": {"name": "openwop-conformance", "version": report.suite_version},
        "host": {
            "url": report.host_url,
            "embedded": report.embedded,
            "implementation": asdict(report.implementation) if report.implementation else None,
        },
        "log": {**asdict(report.log), "files": list(report.log.files)} if report.log else None,
        "mode": report.mode,
        "startedAt": report.started_at,
        "durationMs": report.duration_ms,
        "summary": {
            "conformant": report.conformant,
            "partial": report.partial,
            "counts": {verdict.value: count for verdict, count in report.counts.items()},
            "missingProfiles": list(report.missing_profiles),
            "unobservable": report.unobservable,
        },
        "selfCheck": {
            "passed": report.self_check.passed,
            "failed": len(report.self_check.failed),
            "failures": list(report.self_check.failed),
        },
        "requirements": [_requirement(result) for result in report.results],
        "notApplicable": [asdict(one) for one in report.not_applicable],
        "notTestable": [asdict(one) for one in report.not_testable],
        "pending": list(report.pending),
        "notRun": list(report.not_run),
        "selection": list(report.selection),
        "warnings": list(report.warnings),
        "catalog": {
            whose: [dict(zip(("toolId", "source", "safetyTier"), tool, strict=True)) for tool in tools]
            for whose, tools in report.catalog
        },
        "traffic": {"requests": dict(report.sent), "runsCreated": report.runs_created},
    }


def write_json(report: RunReport) -> str:
    """The report as a text that ends in a newline."""
    return json.dumps(as_json(report), indent=2, ensure_ascii=False) + "\n"


def _requirement(result: Result) -> dict[str, Any]:
    requirement, settled = result.requirement, result.settled
    return {
        "id": requirement.id,
        "level": requirement.level.value,
        "section": requirement.section,
        "statement": requirement.statement,
        "fix": requirement.fix,
        "gate": requirement.gate_text,
        "profile": requirement.profile,
        "verdict": settled.verdict.value,
        "reasons": list(settled.reasons),
        "findings": [_finding(finding) for finding in settled.findings],
        "scenarios": list(settled.scenarios),
        "notes": list(settled.notes),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "message": finding.message,
        "where": finding.where,
        "expected": finding.expected,
        "seen": finding.seen,
        "weight": finding.weight.value,
        "exchange": _exchange(finding.exchange) if finding.exchange else None,
    }


def _exchange(exchange: Exchange) -> dict[str, Any]:
    return {
        "id": exchange.id,
        "principal": exchange.principal,
        "request": {
            "method": exchange.method,
            "url": exchange.url,
            "headers": [list(pair) for pair in exchange.request_headers],
            "body": exchange.request_body,
        },
        "response": None
        if exchange.status is None
        else {
            "status": exchange.status,
            "httpVersion": exchange.http_version,
            "headers": [list(pair) for pair in exchange.response_headers],
            "body": exchange.response_body,
            "bodyBytes": exchange.body_bytes,
        },
        "elapsedMs": exchange.elapsed_ms,
        "error": exchange.error,
        "curl": exchange.curl(),
    }
