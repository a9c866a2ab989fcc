import type { Config } from '../../../platform/config.ts';
import type { OpenApiDocument } from '../../../platform/http/openapi.ts';
import { markup } from '../../../platform/markup.ts';
import { operationsOf, toReferenceDocument } from './document-shape.ts';
import { errorCodesOf, errorList } from './errors.ts';
import { createFrame, type Site } from './frame.ts';
import { operationLink, operationSection } from './operation.ts';
import { overview } from './overview.ts';
import { createSchemaView } from './schema-view.ts';

/** The API reference as HTML pages, which need no script. */
export interface ReferencePages {
  /** How to call, and links to everything on the other pages. */
  overview: string;
  /** By the last part of their address: one for each tag, `schemas`, `events` and `errors`. */
  pages: ReadonlyMap<string, string>;
}

export function referencePages(
  openApi: OpenApiDocument,
  { baseUrl, ...site }: Pick<Config, 'baseUrl'> & Site,
): ReferencePages {
  const document = toReferenceDocument(openApi);
  const schemas = createSchemaView(document);
  const byTag = Map.groupBy(operationsOf(document), ({ tags: [tag = ''] }) => tag);
  const frame = createFrame([...byTag.keys(), 'schemas', 'events', 'errors'], site);
  const pages = new Map<string, string>();

  for (const [tag, operations] of byTag) {
    const summary = `${document.tags.find(({ name }) => name === tag)?.description}.`;
    const links = operations.map((operation) => operationLink(operation));
    const sections = operations.map((each) => operationSection(each, document, schemas, baseUrl));
    pages.set(tag, frame({ name: tag, summary, links, content: markup`${sections}` }));
  }
  const schemaPage = (name: string, summary: string) => {
    const shared = schemas.sharedSchemas(name);
    const links = shared.map(({ name }) => markup`<a href="#schema-${name}">${name}</a>`);
    const content = markup`${shared.map(({ section }) => section)}`;
    pages.set(name, frame({ name, summary, links, content }));
  };
  schemaPage(
    'schemas',
    'Schemas that are used more than once. Others are described where they are used.',
  );
  schemaPage('events', 'The events of the updates feed, and what each of them says.');
  pages.set(
    'errors',
    frame({
      name: 'errors',
      summary: 'Every error code of this service, with what it means.',
      links: errorCodesOf(document).map((code) => markup`<a href="#error-${code}">${code}</a>`),
      content: errorList(document),
    }),
  );
  const summary = 'Every operation, schema and error of this service.';
  const content = overview(document, byTag, schemaPages(pages), baseUrl);
  return { overview: frame({ name: '', summary, links: [], content }), pages };
}

/** The page that describes each schema. */
function schemaPages(pages: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(
    [...pages].flatMap(([page, html]) =>
      [...html.matchAll(/ id="schema-([^"]+)"/g)].map(([, name = '']) => [name, page] as const),
    ),
  );
}
