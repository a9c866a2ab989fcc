import { isLoopback } from '../../platform/base-url.ts';
import type { Config, ConfigError } from '../../platform/config.ts';
import { bad, type Finding, orOk, warn } from './finding.ts';

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
