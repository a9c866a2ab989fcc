import type { OpenApiDocument } from '../../../platform/http/openapi.ts';
import {
  type Operation,
  operationsOf,
  type ReferenceDocument,
  toReferenceDocument,
} from './document-shape.ts';
import { errorSection } from './errors.ts';
import { inline, type Markup, markup, paragraphs } from './markup.ts';
import { operationSection } from './operation.ts';
import { createSchemaView } from './schema-view.ts';

/** The API reference as one HTML page, which needs no script. */
export function referencePage(openApi: OpenApiDocument, baseUrl: string): string {
  const document = toReferenceDocument(openApi);
  const schemas = createSchemaView(document);
  const byTag = Map.groupBy(operationsOf(document), ({ tags: [tag = ''] }) => tag);
  const { title, version, description } = document.info;
  return markup`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="Every operation, schema and error of this service.">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/docs.css">
</head>
<body>
<a class="skip visually-hidden" href="#operations">Skip to the operations</a>
<header>
<p><a href="/">Guestbook</a> · <a href="/cases">Cases</a> · <a href="/packets">Packets</a> ·
<a href="/members">Members</a> · <a href="/activity">Activity</a> · <a href="/search">Search</a> ·
<a href="/about">About and policy</a></p>
<h1>API reference</h1>
<p>${title}, version ${version}. Also as <a href="/openapi.json">OpenAPI 3.1</a>,
<a href="/openapi-3.0.json">OpenAPI 3.0.3</a> and <a href="/for-agents">a guide for agents</a>.</p>
</header>
<nav aria-label="Operations">${index(byTag)}</nav>
<main>
${paragraphs(description)}${howToCall(document, baseUrl)}
<div id="operations">${[...byTag].map(
    ([tag, operations]) => markup`<section aria-labelledby="tag-${tag}">
<h2 id="tag-${tag}">${tag}</h2>
<p>${document.tags.find(({ name }) => name === tag)?.description}.</p>
${operations.map((operation) => operationSection(operation, document, schemas, baseUrl))}</section>\n`,
  )}</div>
<section aria-labelledby="schemas">
<h2 id="schemas">Schemas</h2>
<p>These schemas are used more than once. All other schemas are described where they are used.</p>
${schemas.sharedSchemas()}</section>
${errorSection(document)}
</main>
</body>
</html>
`.html;
}

function index(byTag: ReadonlyMap<string, readonly Operation[]>): Markup {
  return markup`<details open><summary>Index</summary>
<ul>${[...byTag].map(
    ([tag, operations]) => markup`<li><a class="tag" href="#tag-${tag}">${tag}</a>
<ul>${operations.map(
      ({ operationId, method, path }) =>
        markup`<li><a href="#operation-${operationId}"><b>${method}</b> ${path}</a></li>\n`,
    )}</ul></li>\n`,
  )}<li><a class="tag" href="#schemas">Schemas</a></li>
<li><a class="tag" href="#errors">Errors</a></li></ul>
</details>`;
}

function howToCall({ components }: ReferenceDocument, baseUrl: string): Markup {
  const { securitySchemes, headers } = components;
  return markup`<section aria-labelledby="calls">
<h2 id="calls">How to call</h2>
<p>This instance is at <code>${baseUrl}</code>. The example requests run in a POSIX shell with <code>curl</code>.
Replace <mark>marked values</mark> with your own: credentials, ids, and an <code>Idempotency-Key</code> that is
new for each write and the same for each retry. Request fields and query parameters that are not listed here are
refused, except where an operation ignores them.</p>
<p>There are four kinds of credentials:</p>
<ul class="fields">${Object.values(securitySchemes).map(
    ({ description, bearerFormat, name }) =>
      markup`<li>${
        bearerFormat
          ? markup`<code class="name">Authorization: Bearer ${bearerFormat}</code>`
          : markup`<code class="name">Cookie: ${name}=…</code>`
      } ${description}</li>\n`,
  )}</ul>
<p>Every response has these headers:</p>
<ul class="fields">${Object.entries(headers).map(
    ([name, { description = '' }]) =>
      markup`<li><code class="name">${name}</code> ${inline(description)}</li>\n`,
  )}</ul>
</section>`;
}
