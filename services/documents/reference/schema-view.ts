import { inline, join, type Markup, markup, type Part } from '../../../platform/markup.ts';
import { nameOf, type ReferenceDocument, type Schema } from './document-shape.ts';
import { listText, numberText, range, stringText } from './limits.ts';

export interface Field {
  name: string;
  schema: Schema;
  required: boolean;
  description?: string | undefined;
}

export type SchemaView = ReturnType<typeof createSchemaView>;

/** Schemas with a page to themselves, because they have many forms. */
const PAGES: Readonly<Record<string, string>> = { UpdateEvent: 'events' };

/** The page that describes a schema that the document uses more than once. */
const pageOf = (name: string): string => PAGES[name] ?? 'schemas';

/**
 * Renders schemas. A named schema that the document uses once is described where it is used; the
 * others are described on the pages `schemas` and `events`, and every use links there.
 */
export function createSchemaView(document: ReferenceDocument) {
  const { schemas } = document.components;
  const uses = countUses(document);
  const isShared = (name: string) => uses.get(name) !== 1;

  function target({ $ref }: Schema): Schema | undefined {
    return $ref === undefined ? undefined : schemas[nameOf($ref)];
  }

  /** The type of a value in a few words, such as "list of string, at most 60 characters". */
  function typeText(schema: Schema): Part {
    const { $ref, anyOf, oneOf, type } = schema;
    if ($ref !== undefined) return nameText(nameOf($ref));
    if ('const' in schema) return markup`always ${literal(schema.const)}`;
    if (schema.enum)
      return schema.enum.length === 1
        ? markup`always ${literal(schema.enum[0])}`
        : markup`one of <code>${schema.enum.map(literalText).join(' | ')}</code>`;
    const union = anyOf ?? oneOf;
    if (union) return unionText(union);
    if (Array.isArray(type))
      return join(
        type.map((each) => typeText({ ...schema, type: each })),
        ' or ',
      );
    if (schema.prefixItems) return `list of exactly ${schema.prefixItems.length} items`;
    if (schema.items) return markup`${listText(schema)}${typeText(schema.items)}`;
    if (type === 'string') return stringText(schema);
    if (type === 'integer' || type === 'number') return numberText(type, schema);
    if (type === 'object') return objectText(schema);
    return type ?? 'any value';
  }

  function unionText(union: readonly Schema[]): Part {
    const named = union.filter(({ $ref }) => $ref !== undefined);
    if (named.length > 1) return 'one of several forms';
    return join(union.map(typeText), ' or ');
  }

  function objectText({ properties, additionalProperties, maxProperties }: Schema): Part {
    if (properties && Object.keys(properties).length === 0) return 'object without fields';
    if (properties || typeof additionalProperties !== 'object') return 'object';
    const limits = range(undefined, maxProperties, 'member');
    return markup`object${limits && ` with ${limits}`}; each value: ${typeText(additionalProperties)}`;
  }

  function nameText(name: string): Part {
    if (isShared(name)) return markup`<a href="/docs/${pageOf(name)}#schema-${name}">${name}</a>`;
    return markup`<span class="schema-name" id="schema-${name}">${name}</span>`;
  }

  /** The fields of a value, or its forms; nothing for a value without parts. */
  function fieldsOf(schema: Schema, without: ReadonlySet<string> = new Set()): Part {
    const named = target(schema);
    if (named) return isShared(nameOf(schema.$ref ?? '')) ? undefined : fieldsOf(named, without);
    const { properties, items, prefixItems, additionalProperties, anyOf, oneOf, required } = schema;
    const union = anyOf ?? oneOf;
    if (union) return formsOf(schema, union);
    if (items) return fieldsOf(items);
    if (prefixItems)
      return fieldList(prefixItems.map((item, index) => field(`[${index}]`, item, true)));
    if (properties) {
      const fields = Object.entries(properties)
        .filter(([name]) => !without.has(name))
        .map(([name, each]) => field(name, each, required?.includes(name)));
      const list = fieldList(fields);
      if (typeof additionalProperties !== 'object') return list;
      return [list, markup`<p>Other fields are possible.</p>`];
    }
    return typeof additionalProperties === 'object' ? fieldsOf(additionalProperties) : undefined;
  }

  /** The forms of a union: first the fields that all of them have, then the others of each form. */
  function formsOf({ discriminator }: Schema, union: readonly Schema[]): Part {
    const forms = union.filter(({ type }) => type !== 'null');
    if (forms.length === 1 && forms[0]) return fieldsOf(forms[0]);
    if (!forms.some(({ $ref }) => $ref)) return undefined;
    const common = discriminator ? commonFields(forms) : [];
    const without = new Set([...common.map(({ name }) => name), discriminator?.propertyName ?? '']);
    const value = ({ $ref }: Schema) =>
      Object.entries(discriminator?.mapping ?? {}).find(([, mapped]) => mapped === $ref)?.[0];
    return [
      fieldList(common),
      discriminator
        ? markup`<p>The ${common.length > 0 ? 'other ' : ''}fields depend on <code>${discriminator.propertyName}</code>:</p>`
        : markup`<p>One of these forms:</p>`,
      markup`<ul class="forms">${forms.map((form) => {
        const chosen = value(form);
        const title = markup`${chosen && [literal(chosen), ' ']}${formName(form)}`;
        const fields = fieldsOf(form, without);
        return fields
          ? markup`<li><details><summary>${title}</summary>${fields}</details></li>\n`
          : markup`<li>${title}</li>\n`;
      })}</ul>`,
    ];
  }

  /** The type of a form; one element for a name, because a page may have a hundred forms. */
  function formName(form: Schema): Part {
    const name = form.$ref === undefined ? undefined : nameOf(form.$ref);
    return name === undefined || isShared(name)
      ? markup`<span class="type">${typeText(form)}</span>`
      : markup`<span class="type schema-name" id="schema-${name}">${name}</span>`;
  }

  /** The fields that are the same in every form; none if a form is described elsewhere. */
  function commonFields(forms: readonly Schema[]): Field[] {
    if (forms.some(({ $ref }) => isShared(nameOf($ref ?? '')))) return [];
    const [first, ...others] = forms.map((form) => target(form) ?? form);
    return Object.entries(first?.properties ?? {})
      .map(([name, schema]) => field(name, schema, first?.required?.includes(name)))
      .filter(({ name, schema, required }) =>
        others.every(
          (other) =>
            JSON.stringify(other.properties?.[name]) === JSON.stringify(schema) &&
            (other.required?.includes(name) ?? false) === required,
        ),
      );
  }

  const field = (name: string, schema: Schema, required = false): Field => ({
    name,
    schema,
    required,
  });

  /** A list of fields or parameters: name, type, limits and what each means. */
  function fieldList(fields: readonly Field[]): Part {
    if (fields.length === 0) return undefined;
    return markup`<ul class="fields">${fields.map(
      ({ name, schema, required, description }) =>
        markup`<li><code class="name">${name}</code> <span class="type">${typeText(schema)} · ${
          required ? 'required' : 'optional'
        }</span>${spaced(noteText(schema, description))}${fieldsOf(schema)}</li>\n`,
    )}</ul>`;
  }

  /** The description, the default and an example: a text without an element, because a page has hundreds. */
  function noteText(schema: Schema, description = descriptionOf(schema)): Part {
    const { default: preset, examples } = schema;
    const texts = [
      description && inline(description),
      preset === undefined || preset === null ? undefined : markup`Default: ${literal(preset)}.`,
      examples?.length ? markup`Example: ${literal(examples[0])}.` : undefined,
    ].filter((text) => text !== undefined && text !== '');
    return texts.length > 0 ? join(texts, ' ') : undefined;
  }

  /** The description of a schema, or of the named schema that is described in its place. */
  function descriptionOf(schema: Schema): string | undefined {
    if (schema.description) return schema.description;
    const { $ref } = schema;
    return $ref === undefined || isShared(nameOf($ref)) ? undefined : target(schema)?.description;
  }

  /** The schemas that a page describes, of those that the document uses more than once. */
  function sharedSchemas(page: string): { name: string; section: Markup }[] {
    return Object.entries(schemas)
      .filter(([name]) => isShared(name) && pageOf(name) === page)
      .map(([name, schema]) => {
        const fields = fieldsOf(schema);
        const note = noteText(schema);
        const section = markup`<section class="schema" id="schema-${name}">
<h2>${name}</h2><p class="type">${typeText(schema)}</p>${note && markup`<p>${note}</p>`}${fields}
</section>\n`;
        return { name, section };
      });
  }

  return { typeText, fieldsOf, fieldList, descriptionOf, sharedSchemas };
}

const spaced = (text: Part): Part => text && markup` ${text}`;

const literal = (value: unknown): Markup => markup`<code>${literalText(value)}</code>`;

const literalText = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value : JSON.stringify(value);

/** How often the document refers to each schema. */
function countUses(document: ReferenceDocument): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, part] of Object.entries(value))
      if (key === '$ref' && String(part).startsWith('#/components/schemas/')) {
        const name = nameOf(String(part));
        uses.set(name, (uses.get(name) ?? 0) + 1);
      } else if (key !== 'example' && key !== 'examples') visit(part);
  };
  visit(document);
  return uses;
}
