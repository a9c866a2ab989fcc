import {
  inline,
  json,
  type Markup,
  markup,
  type Part,
  paragraphs,
} from '../../../platform/markup.ts';
import { curlCommand } from './curl.ts';
import type {
  Media,
  Operation,
  Parameter,
  ReferenceDocument,
  ResponseObject,
} from './document-shape.ts';
import { errorCodes, operationErrors, resolveResponse } from './errors.ts';
import type { SchemaView } from './schema-view.ts';

/** A link to an operation, by its method and path; `page` is where it is, unless it is this page. */
export const operationLink = ({ operationId, method, path }: Operation, page = ''): Markup =>
  markup`<a href="${page}#operation-${operationId}"><b>${method}</b> ${path}</a>`;

/** One operation: what it does, who may call it, what it takes, and what it answers. */
export function operationSection(
  operation: Operation,
  document: ReferenceDocument,
  schemas: SchemaView,
  baseUrl: string,
): Markup {
  const { operationId, method, path, summary, parameters = [], requestBody } = operation;
  const anchor = `operation-${operationId}`;
  const { text, needs } = splitDescription(operation);
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolveResponse(response, document)] as const,
  );
  const replies = responses.filter(([, response]) => !errorCodes(response));
  const errors = responses.flatMap(([status, response]) =>
    (errorCodes(response) ?? []).map((code) => [status, code] as const),
  );
  const isBare = responses.some(([, { content }]) =>
    content?.['application/json']?.schema?.$ref?.endsWith('/BareProblem'),
  );
  return markup`<section class="operation" id="${anchor}">
<h2><a href="#${anchor}">${summary}</a></h2>
<p class="address"><b class="method ${method.toLowerCase()}">${method}</b> <code>${path}</code> · operation <code>${operationId}</code></p>
${text && paragraphs(text)}<p class="access"><b>Who may call:</b> ${accessText(operation)} ${needs && inline(needs)}</p>
${parameterList(parameters, schemas)}${requestBody && bodyOf(requestBody, schemas)}<h3>Example request</h3>
${curlCommand(operation, document, baseUrl)}
<h3>Responses</h3>
${replies.map(([status, response]) => replyOf(status, response, document, schemas))}<details><summary>Errors (${errors.length})</summary>
${isBare ? markup`<p>Some have the body <a href="/docs/schemas#schema-BareProblem">BareProblem</a>: the code alone.</p>` : undefined}${operationErrors(errors)}
</details>
</section>\n`;
}

/** Separates the sentence about scopes or roles, which `openapi.ts` appends to the description. */
function splitDescription({ description = '' }: Operation): { text: string; needs?: string } {
  const all = description.split('\n\n');
  const last = all.at(-1) ?? '';
  if (!/^(Needs the scope|For the roles) /.test(last)) return { text: description };
  return { text: all.slice(0, -1).join('\n\n'), needs: last };
}

function accessText({ security }: Operation): string {
  const names = security.flatMap((each) => Object.keys(each));
  const optional = security.some((each) => Object.keys(each).length === 0);
  if (names.includes('moderator')) return 'a moderator, with a token or a browser session.';
  if (names.includes('bearer')) return 'a member, with a scoped credential.';
  if (!names.includes('session')) return 'anyone, without a credential.';
  return optional
    ? "anyone; a member's browser session is used if it is sent."
    : 'a member, with a browser session.';
}

const PLACES = [
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
  ['header', 'Request headers'],
] as const;

function parameterList(parameters: readonly Parameter[], schemas: SchemaView): Part {
  return PLACES.map(([place, title]) => {
    const fields = parameters.filter((parameter) => parameter.in === place);
    if (fields.length === 0) return undefined;
    return markup`<h3>${title}</h3>
${schemas.fieldList(fields.map((each) => ({ ...each, required: each.required ?? false })))}\n`;
  });
}

function bodyOf(body: NonNullable<Operation['requestBody']>, schemas: SchemaView): Markup {
  return markup`<h3>Request body</h3>
${Object.entries(body.content).map(([type, media]) => mediaOf(type, media, schemas))}${
  body.description && markup`<p>${body.description}.</p>`
}`;
}

/** The schema of a body: its name, what it means, and its fields unless they are elsewhere. */
function mediaOf(type: string, { schema }: Media, schemas: SchemaView): Markup {
  if (!schema || (type !== 'application/json' && schema.type === 'string'))
    return markup`<p><code>${type}</code></p>\n`;
  const description = schemas.descriptionOf(schema);
  return markup`<p><code>${type}</code>: <span class="type">${schemas.typeText(schema)}</span></p>
${description && markup`<p>${inline(description)}</p>`}${schemas.fieldsOf(schema)}\n`;
}

function replyOf(
  status: string,
  { description = '', headers = {}, content = {} }: ResponseObject,
  document: ReferenceDocument,
  schemas: SchemaView,
): Markup {
  const own = Object.entries(headers).filter(([name]) => !(name in document.components.headers));
  const media = Object.entries(content);
  const title = markup`<b>${status}</b> ${inline(description)}`;
  if (own.length + media.length === 0) return markup`<p class="reply">${title}</p>\n`;
  // It repeats headers of the reply before it: their names suffice, and keep long pages short.
  if (status === '304' && media.length === 0)
    return markup`<p class="reply">${title}. Headers, as above: ${own.map(([name]) => name).join(', ')}</p>\n`;
  return markup`<details class="reply"><summary>${title}</summary>
${media.map(([type, each]) => mediaOf(type, each, schemas))}${
  own.length > 0
    ? markup`<p>Headers:</p><ul class="fields">${own.map(
        ([name, { description: text = '' }]) =>
          markup`<li><code class="name">${name}</code> ${inline(text)}</li>\n`,
      )}</ul>`
    : undefined
}${media.map(([, { example }]) =>
  example === undefined ? undefined : markup`<p>Example:</p>\n${json(example)}`,
)}
</details>\n`;
}
