import { conflictReasons } from '../../../domain/conflict.ts';
import { type ProblemCode, problems, wireCode } from '../../../platform/http/problems.ts';
import { json, type Markup, markup } from '../../../platform/markup.ts';
import { nameOf, type ReferenceDocument, type ResponseObject } from './document-shape.ts';

/** The response of an HTTP status, with the shared response that it refers to. */
export function resolveResponse(
  response: ResponseObject,
  { components }: ReferenceDocument,
): ResponseObject {
  const { $ref, ...own } = response;
  return $ref === undefined ? own : { ...components.responses[nameOf($ref)], ...own };
}

/** The error codes of a response; undefined if its body is no `Problem`. */
export function errorCodes({ description = '', content }: ResponseObject): string[] | undefined {
  const { $ref = '' } = content?.['application/json']?.schema ?? {};
  if (!['Problem', 'BareProblem'].includes(nameOf($ref))) return undefined;
  return [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code ?? '');
}

const PROBLEMS = Object.entries(problems) as [ProblemCode, readonly [number, string]][];

export function meaningOf(code: string): string {
  return PROBLEMS.find(([problem]) => wireCode(problem) === code)?.[1][1] ?? '';
}

/** Errors of one operation, each with its status and meaning. */
export function operationErrors(
  errors: readonly (readonly [status: string, code: string])[],
): Markup {
  return markup`<ul class="errors">${errors.map(
    ([status, code]) =>
      markup`<li>${status} <a href="/docs/errors#error-${code}">${code}</a> ${meaningOf(code)}</li>\n`,
  )}</ul>`;
}

export const errorCodesOf = ({ components }: ReferenceDocument): string[] =>
  (components.schemas.ErrorCode?.enum ?? []) as string[];

/** Every error code of the service, with an example of its body. */
export function errorList(document: ReferenceDocument): Markup {
  const examples = Object.assign(
    {},
    ...Object.values(document.components.responses).map(
      ({ content }) => content?.['application/json']?.examples,
    ),
  ) as Record<string, { value: unknown }>;
  return markup`<p>The body of a refusal is a <a href="/docs/schemas#schema-Problem">Problem</a>. Where an operation says so, it is a
<a href="/docs/schemas#schema-BareProblem">BareProblem</a>.</p>
<ul class="errors">${errorCodesOf(document).map(
    (code) => markup`<li id="error-${code}"><code class="name">${code}</code> ${statusesOf(code)}
<p>${meaningOf(code)}</p>${code === 'state_conflict' ? reasonList() : undefined}${
      examples[code] &&
      markup`<details><summary>Example of ${code}</summary>${json(examples[code].value)}</details>`
    }</li>\n`,
  )}</ul>`;
}

function statusesOf(code: string): string {
  const statuses = PROBLEMS.filter(([problem]) => wireCode(problem) === code).map(
    ([, [status]]) => status,
  );
  return statuses.join(' or ');
}

function reasonList(): Markup {
  return markup`<p>Its <code>reason</code> is one of:</p>
<ul>${Object.entries(conflictReasons).map(
    ([reason, message]) => markup`<li><code>${reason}</code> ${message}</li>\n`,
  )}</ul>`;
}
