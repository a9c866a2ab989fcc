import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { prefersMarkdown } from '../../platform/http/accept.ts';
import { toOpenApi30 } from '../../platform/http/openapi-3.0.ts';
import { keptText, pageHeaders, textContent } from '../../platform/http/page-headers.ts';
import { publicContent } from '../../platform/http/respond.ts';
import {
  type Content,
  type Handlers,
  implement,
  type RequestContext,
  type Routes,
} from '../../platform/http/route.ts';
import { keep } from '../../platform/keep.ts';
import { query } from '../../platform/postgres/query.ts';
import { refuse } from '../../platform/refusal.ts';
import { allPolicies } from '../../projections/moderation/policies.ts';
import { API_CATALOG, SERVICE_LINK_HEADER } from '../discovery/service-links.ts';
import { sandboxLine, sandboxNotice, underNotice } from '../sandbox-notice.ts';
import { agentsOpenApi } from './agents-openapi.ts';
import { apiCatalog } from './api-catalog.ts';
import { documentsContract } from './contract.ts';
import { forAgents, llmsFull, textFile } from './guides.ts';
import { openApiDocument, strictOpenApiDocument } from './openapi.ts';
import { publicPolicy } from './policy.ts';
import { referenceMarkdown } from './reference/markdown.ts';
import { referencePages } from './reference/pages.ts';
import { llms, robots, securityTxt, sitemap } from './small-files.ts';

export interface DocumentsDeps {
  config: Config;
  readPool: pg.Pool;
  /** Returns the routes of this instance; called when a document is first read. */
  routes: () => readonly Routes[];
}

const HEADERS = {
  ...pageHeaders({ 'require-trusted-types-for': "'script'", 'trusted-types': "'none'" }),
  link: SERVICE_LINK_HEADER,
};

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
  const notice = sandboxNotice(config);
  const openApi = keep(() => openApiDocument(routes(), baseUrl, notice));
  const agents = keep(() => agentsOpenApi(openApi()));
  const repliesOf = (
    type: string,
    { overview, pages }: { overview: string; pages: ReadonlyMap<string, string> },
  ) => {
    const reply = (text: string) => ({
      status: 200 as const,
      content: keptText(type, type === 'text/markdown' ? underNotice(config, text) : text),
      headers: HEADERS,
    });
    return {
      overview: reply(overview),
      pages: new Map([...pages].map(([name, text]) => [name, reply(text)])),
    };
  };
  const inHtml = keep(() =>
    repliesOf(
      'text/html',
      referencePages(strictOpenApiDocument(routes(), baseUrl), {
        baseUrl,
        siteName: config.siteName,
        notice: sandboxLine(config),
      }),
    ),
  );
  const inMarkdown = keep(() =>
    repliesOf(
      'text/markdown',
      referenceMarkdown(strictOpenApiDocument(routes(), baseUrl), baseUrl),
    ),
  );
  const reference = ({ request }: { request: RequestContext }) =>
    prefersMarkdown(request.accept) ? inMarkdown() : inHtml();
  const catalog = keep(() => apiCatalog(config));
  return {
    'documents.openapi': once(() => publicContent(openApi())),
    'documents.openapi_3_0': once(() => publicContent(toOpenApi30(openApi()))),
    'documents.openapi_agents': once(() => publicContent(agents())),
    'documents.api_catalog': async () => ({
      status: 200,
      content: catalog(),
      headers: { link: `<${API_CATALOG}>; rel="api-catalog"` },
    }),
    'documents.for_agents': once(() =>
      textContent('text/markdown', underNotice(config, forAgents(config))),
    ),
    'documents.policy': async () => ({
      status: 200,
      body: publicPolicy(config, await query(readPool, allPolicies())),
    }),
    'documents.llms': once(() => textContent(PLAIN, llms(baseUrl, notice))),
    'documents.llms_full': once(() => textContent(PLAIN, llmsFull(config, agents()))),
    'documents.robots': once(() => textContent(PLAIN, robots(baseUrl, config.sandbox))),
    'documents.sitemap': once(() => textContent('application/xml', sitemap(baseUrl, routes()))),
    'documents.security': async () =>
      config.securityContact
        ? {
            status: 200,
            content: textContent(PLAIN, securityTxt(baseUrl, config.securityContact, Date.now())),
          }
        : refuse('not_found', { message: 'This service has no security contact.' }),
    'documents.reference': async (call) => reference(call).overview,
    'documents.reference_style': once(() =>
      textContent('text/css', STYLES.map((name) => textFile(name)).join('\n')),
    ),
    'documents.reference_page': async (call) =>
      reference(call).pages.get(call.params.page) ??
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
