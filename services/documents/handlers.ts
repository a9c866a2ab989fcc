import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { allPolicies, type PolicyRow } from '../../projections/policies.ts';
import type { Config } from '../config.ts';
import { refuse } from '../eventstore/decider.ts';
import { openApiDocument } from '../http/openapi.ts';
import { publicContent, strongEtag } from '../http/respond.ts';
import type { Content, Feature, Handlers } from '../http/route.ts';
import { query } from '../postgres.ts';
import type { documentsContract } from './contract.ts';
import { publicPolicy } from './policy.ts';
import { llms, robots, securityTxt, sitemap } from './small-files.ts';
import { textFile } from './text-file.ts';

export interface DocumentsParts {
  config: Config;
  readPool: pg.Pool;
  /** Every feature of this instance, this one too: asked for when a document is first read. */
  features: () => readonly Feature[];
}

// The viewer puts styles on elements through the object model, which this allows; it draws its icons
// from data: addresses. Everything else is this service's own, and nothing is inline.
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';

export function documentsHandlers({
  config,
  readPool,
  features,
}: DocumentsParts): Handlers<typeof documentsContract> {
  const { baseUrl } = config;
  const values = { base_url: baseUrl, writes_per_day: String(config.limitWritesPerDay) };
  return {
    'documents.openapi': once(() => publicContent(openApiDocument(features(), baseUrl))),
    'documents.for_agents': once(() =>
      text('text/markdown; charset=utf-8', textFile('for-agents.md', values)),
    ),
    'documents.policy': async () => ({
      status: 200,
      body: publicPolicy(config, await query<PolicyRow>(readPool, allPolicies())),
    }),
    'documents.llms': once(() => text(PLAIN, llms(baseUrl))),
    'documents.robots': once(() => text(PLAIN, robots(baseUrl))),
    'documents.sitemap': once(() =>
      text('application/xml; charset=utf-8', sitemap(baseUrl, features())),
    ),
    'documents.security': async () =>
      config.securityContact
        ? {
            status: 200,
            content: text(PLAIN, securityTxt(baseUrl, config.securityContact, Date.now())),
          }
        : refuse('not_found'),
    'documents.reference': async () => ({
      status: 200,
      content: page(),
      headers: { 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'same-origin' },
    }),
    'documents.reference_start': once(() => text(SCRIPT, textFile('docs.js'))),
    'documents.reference_style': once(() => text(STYLE, textFile('docs.css'))),
    'documents.viewer': once(() => text(SCRIPT, viewerFile('swagger-ui-bundle.js'))),
    'documents.viewer_style': once(() => text(STYLE, viewerFile('swagger-ui.css'))),
  };
}

const page = keep(() => text('text/html; charset=utf-8', textFile('docs.html')));

/** Made when it is first read, and the same for everybody from then on. */
function once(make: () => Content) {
  const content = keep(make);
  return async () => ({ status: 200 as const, content: content() });
}

function keep<Value>(make: () => Value): () => Value {
  let kept: Value | undefined;
  return () => {
    kept ??= make();
    return kept;
  };
}

function text(type: string, bytes: Uint8Array | string): Content {
  return { type, bytes, etag: strongEtag(bytes) };
}

function viewerFile(name: string): Buffer {
  return readFileSync(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)));
}
