import { isLoopback } from '../../platform/base-url.ts';
import { failureLine } from '../../platform/command-line/failure.ts';
import type { Config } from '../../platform/config.ts';
import { type Finding, ok, warn } from './finding.ts';

const TIMEOUT_MS = 5000;
const START = 'start the web process and the proxy in front of it, or export BASE_URL=https://…';

/** Checks that a ready web process answers at BASE_URL, as its callers see it. */
export async function checkAddress({ baseUrl }: Config): Promise<Finding[]> {
  if (isLoopback(baseUrl)) return [ok(`Only this machine can reach ${baseUrl}`)];
  const url = `${baseUrl}/readyz`;
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (response.status !== 200) return [warn(`${url} answers ${response.status}`, START)];
    return text === '{"status":"ok"}'
      ? [ok(`A web process is ready at ${baseUrl}`)]
      : [warn(`${url} is not answered by a web process of this service`, START)];
  } catch (error) {
    // `fetch` only says that it failed.
    const reason = failureLine((error as Error).cause ?? error).trim();
    return [warn(`${url} does not answer (${reason})`, START)];
  }
}
