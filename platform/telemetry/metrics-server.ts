import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { toLoggable } from './loggable.ts';

/**
 * Serves `GET /metrics` on a separate port, so that metrics are not public by accident, and
 * `GET /livez`, which says that the process runs; port 0 turns both off. If the port cannot be opened, logs the error and continues, since no request
 * depends on metrics. Resolves to a function that closes the server.
 */
export async function serveMetrics(
  registry: Registry,
  at: { host: string; port: number },
  logger: Logger,
): Promise<() => void> {
  if (at.port === 0) return () => undefined;
  const server = createServer((req, res) => void answer(registry, logger, req, res));
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

async function answer(
  registry: Registry,
  logger: Logger,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const path = (req.url ?? '').replace(/\?.*$/s, '');
  if (path !== '/metrics' && path !== '/livez') {
    res.writeHead(404).end();
    return;
  }
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    res.writeHead(405, { allow: 'GET, HEAD' }).end();
    return;
  }
  if (path === '/livez') {
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    res.writeHead(200, headers).end(req.method === 'HEAD' ? undefined : '{"status":"ok"}');
    return;
  }
  try {
    const text = await registry.metrics();
    res.writeHead(200, { 'content-type': registry.contentType, 'cache-control': 'no-store' });
    res.end(req.method === 'HEAD' ? undefined : text);
  } catch (error) {
    logger.error({ error: toLoggable(error) }, 'metrics failed');
    res.writeHead(500).end();
  }
}
