import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { toLoggable } from './logger.ts';

/** What a page on the port of the metrics answers. */
export interface MetricsReply {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Answers a GET or HEAD request on the port of the metrics. */
export type MetricsPage = (req: IncomingMessage) => Promise<MetricsReply>;

/**
 * Serves `GET /metrics` on a separate port, so that metrics are not public by accident, `GET /livez`, which says that
 * the process runs, and `pages` by their paths; port 0 turns all of them off. If the port cannot be opened, logs the
 * error and continues, since no request depends on metrics. Resolves to a function that closes the server.
 */
export async function serveMetrics(
  registry: Registry,
  at: { host: string; port: number },
  logger: Logger,
  pages: Readonly<Record<string, MetricsPage>> = {},
): Promise<() => void> {
  if (at.port === 0) return () => undefined;
  const answers = new Map<string, MetricsPage>([
    ['/livez', async () => LIVE],
    [
      '/metrics',
      async () => {
        const body = await registry.metrics();
        return {
          status: 200,
          headers: { ...UNCACHED, 'content-type': registry.contentType },
          body,
        };
      },
    ],
    ...Object.entries(pages),
  ]);
  const server = createServer((req, res) => void answer(answers, logger, req, res));
  const told = Promise.withResolvers<void>();
  server.on('error', (error) => {
    logger.error(
      { ...at, error: toLoggable(error) },
      'metrics are not served: is their port taken?',
    );
    told.resolve();
  });
  server.listen(at.port, at.host, () => {
    logger.info(at, 'metrics served');
    told.resolve();
  });
  await told.promise;
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

const UNCACHED = { 'cache-control': 'no-store' };
const LIVE: MetricsReply = {
  status: 200,
  headers: { ...UNCACHED, 'content-type': 'application/json' },
  body: '{"status":"ok"}',
};

async function answer(
  answers: ReadonlyMap<string, MetricsPage>,
  logger: Logger,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const path = (req.url ?? '').replace(/\?.*$/s, '');
  const page = answers.get(path);
  if (!page) {
    res.writeHead(404).end();
    return;
  }
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    res.writeHead(405, { allow: 'GET, HEAD' }).end();
    return;
  }
  try {
    const { status, headers, body } = await page(req);
    res.writeHead(status, headers);
    res.end(req.method === 'HEAD' ? undefined : body);
  } catch (error) {
    logger.error({ path, error: toLoggable(error) }, 'a page of the metrics port failed');
    res.writeHead(500).end();
  }
}
