import { isLoopback } from '../../platform/base-url.ts';
import { failureLine } from '../../platform/command-line/failure.ts';
import type { Config, ConfigError } from '../../platform/config.ts';
import { whyElsewhere } from '../../services/localhost.ts';
import { bad, type Finding, ok, orOk, warn } from './check.ts';

/** Each fault begins with the name of its variable. */
export function configFaults({ faults }: ConfigError): Finding[] {
  return faults.map((fault) => {
    const [name = ''] = fault.split(' ');
    const isTooMuch = /(are both set|beside it)$/.test(fault);
    return bad(fault, isTooMuch ? `unset ${name}` : `export ${name}=…`);
  });
}

/** Settings that a public service needs; on a loopback address, each has a default that fits. */
export function checkConfiguration(config: Config): Finding[] {
  if (isLoopback(config.baseUrl)) return orOk([], `The settings are valid, for ${config.baseUrl}`);
  return orOk(
    [
      config.databaseUrl === undefined &&
        warn(
          'The embedded PostgreSQL is for development',
          'export DATABASE_URL=postgres://user:password@host:port/database',
        ),
      config.trustedProxies === 0 &&
        warn(
          'BASE_URL is https, so a proxy is in front, but limits count its address, not the caller',
          'export TRUSTED_PROXIES=1',
        ),
      config.securityContact === undefined &&
        warn(
          '/.well-known/security.txt does not exist',
          'export SECURITY_CONTACT=mailto:security@example.org',
        ),
    ],
    `The settings are valid, for ${config.baseUrl}`,
  );
}

const TIMEOUT_MS = 5000;
const START = 'start the web process and the proxy in front of it, or export BASE_URL=https://…';

/**
 * Checks that a ready web process answers at BASE_URL, as its callers see it. Of a loopback address, only whether it leads
 * to HOST: no process has to run.
 */
export async function checkAddress(
  { baseUrl, host }: Config,
  elsewhereOf = whyElsewhere,
): Promise<Finding[]> {
  if (isLoopback(baseUrl)) {
    const elsewhere = await elsewhereOf(baseUrl, host);
    if (elsewhere) return [warn(`${baseUrl}: ${elsewhere.text}`, `set ${elsewhere.setting}`)];
    return [ok(`Only this machine can reach ${baseUrl}`)];
  }
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
