import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Creates a self-signed certificate in `folder` with the program openssl; returns its file and that of
 * its key. `name` is what clients connect to, as `DNS:db1.example` or `IP:127.0.0.1`.
 */
export function createCertificate(folder: string, name: string): { cert: string; key: string } {
  const file = (ending: string) => join(folder, `${name.replace(/\W/g, '-')}.${ending}`);
  const [cert, key] = [file('crt'), file('key')];
  const subject = ['-subj', '/CN=test', '-addext', `subjectAltName=${name}`, '-days', '2'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-out', cert, '-keyout', key];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
  return { cert, key };
}
