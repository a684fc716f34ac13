"""Templates, for any face: find, preview, instantiate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from actors.errors import NotFound
from actors.templates.parameters import BadParameters, read_parameters
from actors.templates.report import Foreseen, Report
from actors.templates.template import Template
from api.operations.context import OperationContext, put_in_force
from api.problems import FieldError, Refusal, shown
from api.schemas.templates import Instantiation


def named(call: OperationContext, id: str) -> Template:
    """Return a template. Raises NotFound."""
    found = call.context.templates.catalogue.get(id)
    if found is None:
        raise NotFound("There is no such template; GET /v1/templates lists them.")
    return found


async def preview(call: OperationContext, template: Template, request: Instantiation) -> Foreseen:
    """Return the attachments of an instantiation. Raises Refusal (400)."""
    with _refusing():
        values = read_parameters(template, request.params)
        return await call.context.templates.preview(template, values, only=request.only)


async def instantiate(call: OperationContext, template: Template, request: Instantiation) -> Report:
    """Attach the missing parts. Raises Refusal (400); TooSlowError if alerts cannot be put in force now."""
    with _refusing():
        values = read_parameters(template, request.params)
        report = await call.context.templates.instantiate(template, values, alerts=request.alerts, only=request.only)
    if report.alerts:  # even if all existed: an interrupted call may not have reached this
        await put_in_force(call)
    return report


@contextmanager
def _refusing() -> Iterator[None]:
    """Refuse invalid parameters, each at its place in the body."""
    try:
        yield
    except BadParameters as error:
        wrong = [FieldError(f"body.{place}", says, shown(value)) for place, says, value in error.wrong]
        raise Refusal("invalid-request", f"body.{error.detail}", wrong) from None
