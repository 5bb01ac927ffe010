"""Keep schemas: the variables of worlds, players and characters."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.listing import Listing
from fabula.actions.repositories import SCHEMAS, checked_new_name
from fabula.actions.views import Command, ListView, View, changed, refuse
from fabula.ports.actors import Actor
from fabula.story.schemas import Schema, SchemaField, schema_problems


class CreateSchema(Command):
    schema_id: str
    display_name: str
    tags: list[str] = []
    fields: dict[str, SchemaField]
    additional: bool = True


class UpdateSchema(Command):
    schema_id: str
    display_name: str | None = None
    tags: list[str] | None = None
    fields: dict[str, SchemaField] | None = None
    additional: bool | None = None


class NameSchema(Command):
    schema_id: str


class SchemaView(View):
    may_be_large = True
    type: Literal["schema"] = "schema"
    schema_id: str
    display_name: str
    tags: list[str]
    fields: dict[str, SchemaField]
    additional: bool


class SchemasListed(ListView):
    type: Literal["schemas_listed"] = "schemas_listed"
    schemas: list[SchemaView]


class SchemaDeleted(View):
    type: Literal["schema_deleted"] = "schema_deleted"
    schema_id: str


@allowed("author")
async def create_schema(house: House, actor: Actor, command: CreateSchema) -> SchemaView:
    """Adds a schema; defaults must fit their types and enums."""
    refuse(schema_problems(command.fields), "schema")
    checked_new_name(command.schema_id, SCHEMAS.noun)
    schema = Schema(**dict(command))
    async with house.store.writing() as unit:
        await SCHEMAS.add(unit, schema.schema_id, schema)
    return _view(schema)


@allowed("player")
async def get_schema(house: House, actor: Actor, command: NameSchema) -> SchemaView:
    """Shows a schema; to players without what its fields stand for and say of the world."""
    async with house.store.reading() as unit:
        return _shown(actor, await SCHEMAS.get(unit, command.schema_id))


@allowed("player")
async def list_schemas(house: House, actor: Actor, command: Listing) -> SchemasListed:
    """Lists schemas, by id or `order`. `query` finds words of names, ids, tags and fields.

    Players see them without what fields stand for and say of the world.
    """
    async with house.store.reading() as unit:
        schemas, cursor = await SCHEMAS.page(unit, command)
    return SchemasListed(schemas=[_shown(actor, schema) for schema in schemas], next_cursor=cursor)


@allowed("author")
async def update_schema(house: House, actor: Actor, command: UpdateSchema) -> SchemaView:
    """Changes a schema; fields that are not given stay as they are."""
    if command.fields is not None:
        refuse(schema_problems(command.fields), "schema")
    async with house.store.writing() as unit:
        before = await SCHEMAS.get(unit, command.schema_id)
        after = Schema(**changed(before, command, "display_name", "tags", "fields", "additional"))
        await SCHEMAS.put(unit, after.schema_id, after)
    return _view(after)


@allowed("author")
async def delete_schema(house: House, actor: Actor, command: NameSchema) -> SchemaDeleted:
    """Removes a schema that nothing uses."""
    async with house.store.writing() as unit:
        await SCHEMAS.remove(unit, command.schema_id)
    return SchemaDeleted(schema_id=command.schema_id)


def _shown(actor: Actor, schema: Schema) -> SchemaView:
    """What authors wrote of a field tells what is to be found out: "True once the player knows that ..."."""
    if actor.may_act_as("author"):
        return _view(schema)
    secret = {"description": None, "canon": None, "known_by": None}
    fields = {key: field.model_copy(update=secret) for key, field in schema.fields.items()}
    return _view(schema.model_copy(update={"fields": fields}))


def _view(schema: Schema) -> SchemaView:
    return SchemaView(**dict(schema))
