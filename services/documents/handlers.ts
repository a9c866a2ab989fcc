import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { openApiDocument, strictOpenApiDocument } from '../../platform/http/openapi.ts';
import { toOpenApi30 } from '../../platform/http/openapi-3.0.ts';
import { keptText, pageHeaders, textContent } from '../../platform/http/page-headers.ts';
import { publicContent } from '../../platform/http/respond.ts';
import { type Content, type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { keep } from '../../platform/keep.ts';
import { query } from '../../platform/postgres/query.ts';
import { refuse } from '../../platform/refusal.ts';
import { allPolicies } from '../../projections/moderation/policies.ts';
import { documentsContract } from './contract.ts';
import { forAgents } from './for-agents.ts';
import { publicPolicy } from './policy.ts';
import { referencePages } from './reference/pages.ts';
import { llms, robots, securityTxt, sitemap } from './small-files.ts';
import { textFile } from './text-file.ts';

export interface DocumentsDeps {
  config: Config;
  readPool: pg.Pool;
  /** Returns the routes of this instance; called when a document is first read. */
  routes: () => readonly Routes[];
}

const HEADERS = pageHeaders({ 'require-trusted-types-for': "'script'", 'trusted-types': "'none'" });

const PLAIN = 'text/plain';
/** Colours and type are those of the other pages. */
const STYLES = [
  '../../web/shared/base.css',
  '../../web/shared/header.css',
  'reference/reference.css',
];

function documentsHandlers({
  config,
  readPool,
  routes,
}: DocumentsDeps): Handlers<typeof documentsContract> {
  const { baseUrl } = config;
  const openApi = keep(() => openApiDocument(routes(), baseUrl));
  const reference = keep(() => {
    const { overview, pages } = referencePages(strictOpenApiDocument(routes(), baseUrl), config);
    const reply = (html: string) => ({
      status: 200 as const,
      content: keptText('text/html', html),
      headers: HEADERS,
    });
    return {
      overview: reply(overview),
      pages: new Map([...pages].map(([name, html]) => [name, reply(html)])),
    };
  });
  return {
    'documents.openapi': once(() => publicContent(openApi())),
    'documents.openapi_3_0': once(() => publicContent(toOpenApi30(openApi()))),
    'documents.for_agents': once(() => textContent('text/markdown', forAgents(config))),
    'documents.policy': async () => ({
      status: 200,
      body: publicPolicy(config, await query(readPool, allPolicies())),
    }),
    'documents.llms': once(() => textContent(PLAIN, llms(baseUrl))),
    'documents.robots': once(() => textContent(PLAIN, robots(baseUrl))),
    'documents.sitemap': once(() => textContent('application/xml', sitemap(baseUrl, routes()))),
    'documents.security': async () =>
      config.securityContact
        ? {
            status: 200,
            content: textContent(PLAIN, securityTxt(baseUrl, config.securityContact, Date.now())),
          }
        : refuse('not_found', { message: 'This service has no security contact.' }),
    'documents.reference': async () => reference().overview,
    'documents.reference_style': once(() =>
      textContent('text/css', STYLES.map((name) => textFile(name)).join('\n')),
    ),
    'documents.reference_page': async ({ params }) =>
      reference().pages.get(params.page) ??
      refuse('not_found', { message: 'Not found: the API reference has no such page.' }),
  };
}

/** Builds the content on the first read and returns the same content on every later read. */
function once(make: () => Content) {
  const content = keep((): Content => ({ ...make(), served: 'always' }));
  return async () => ({ status: 200 as const, content: content() });
}

export const routes = (deps: DocumentsDeps): readonly Routes[] => [
  implement(documentsContract, documentsHandlers(deps)),
];
