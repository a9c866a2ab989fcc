import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { prefersToHtml } from '../../platform/http/accept.ts';
import type { MetricsPage, MetricsReply } from '../../platform/telemetry/metrics-server.ts';
import type { OperateDeps } from './context.ts';
import { createReport } from './create-report.ts';
import { pageHtml } from './page.ts';
import { reportJson } from './report.ts';
import { STYLE } from './style.ts';

const HEADERS = {
  'cache-control': 'no-store',
  vary: 'accept',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  // No page of another origin gets the report, also not as a script or an image.
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
} as const;

const refusal = (status: number, text: string): MetricsReply => ({
  status,
  headers: { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' },
  body: `${text}\n`,
});

/**
 * Creates the page for operators, `/operate` on the port of the metrics. It changes nothing, so a request of another
 * site can at most read; `Host` and `Sec-Fetch-Site` keep out pages of others in the browser of an operator.
 */
export function createOperatePage(
  deps: OperateDeps,
  logger: Pick<Logger, 'warn'>,
  options?: { keptMs?: number },
): MetricsPage {
  const report = createReport(deps, logger, options);
  const names = new Set([
    'localhost',
    hostname().toLowerCase(),
    deps.config.metricsHost.toLowerCase(),
  ]);

  /** Whether the request names this machine: another name may be one that an attacker has led here. */
  function isOwnHost(host = ''): boolean {
    const [, name = ''] = /^(\[[\da-f:.]+\]|[^:[\]/@?#\\\s]+)(?::\d{1,5})?$/i.exec(host) ?? [];
    return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || names.has(name.toLowerCase());
  }

  return async ({ headers }: IncomingMessage): Promise<MetricsReply> => {
    if (!isOwnHost(headers.host))
      return refusal(
        421,
        'This page is served under an IP address, localhost, the name of this machine or METRICS_HOST.',
      );
    const { 'sec-fetch-site': site = 'none', 'sec-fetch-dest': destination } = headers;
    // A link elsewhere may lead here; a page elsewhere may not load or embed this one.
    if (site !== 'none' && site !== 'same-origin' && destination !== 'document')
      return refusal(403, 'Open this page by itself: pages of other origins may not load it.');
    const current = await report();
    const json = prefersToHtml('application/json', headers.accept);
    return {
      status: 200,
      headers: {
        ...HEADERS,
        'content-type': json ? 'application/json' : 'text/html; charset=utf-8',
      },
      body: json ? JSON.stringify(reportJson(current)) : pageHtml(current),
    };
  };
}
