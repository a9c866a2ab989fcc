import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { processMetrics } from '../../platform/telemetry/metrics.ts';
import { serveMetrics } from '../../platform/telemetry/metrics-server.ts';
import { projections } from '../../services/features.ts';
import { createOperatePage } from '../../services/operate/operate-page.ts';
import type { Service } from './service.ts';

/** The tables of all read models. */
export const READ_MODELS = projections.flatMap(({ tables }) => tables);

type Deps = Parameters<typeof createOperatePage>[0];

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** What a section says that was not read in time. */
export const LATE_STATEMENT = 'A statement took longer than a second.';
const LATE = [LATE_STATEMENT, 'The five seconds for this page were over.'];

/**
 * Asks for the report, as an object or a page, until every section was read in time, which a busy machine may not do.
 * The text `expected` is that of the section that the test makes late. Any other reason is left to the caller.
 */
export async function untilInTime<Answer>(
  ask: () => Promise<Answer>,
  expected = '',
): Promise<Answer> {
  for (; ; await sleep(100)) {
    const answer = await ask();
    const said = JSON.stringify(answer).replace(expected, '');
    if (!LATE.some((text) => said.includes(text))) return answer;
  }
}

/**
 * Serves `/operate` of a service on a port, as its web process does; each request makes a new report unless `keptMs` says
 * otherwise. `send` is a request with any method, target and headers.
 */
export async function serveOperate(
  t: Test,
  { core, logger }: Pick<Service, 'core' | 'logger'>,
  { keptMs = 0, ...more }: Partial<Deps> & { keptMs?: number } = {},
) {
  const deps = { ...core, process: 'web' as const, readModels: READ_MODELS, ...more };
  const page = createOperatePage(deps, logger, { keptMs });
  const at = { host: '127.0.0.1', port: Number(await freePort()) };
  t.teardown(await serveMetrics(processMetrics({}), at, logger, { '/operate': page }));
  const base = `http://127.0.0.1:${at.port}`;

  const send = (
    headers: Record<string, string> = {},
    { method = 'GET', path = '/operate' } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request({ ...at, method, path, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      });
      sent.on('error', reject);
      sent.end();
    });

  const json = async () => JSON.parse((await send({ accept: 'application/json' })).text);
  return { base, send, json };
}
