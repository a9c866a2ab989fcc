import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { findProgram, needs, startProgram } from '../../harness/programs.ts';
import { newRegistration } from '../../harness/registration.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { writeConfig } from '../support/deploy-config.ts';
import { needsPatroni, newNetwork, writePatroniConfig } from '../support/patroni.ts';
import { startProcess } from '../support/processes.ts';
import { COPIED } from '../support/production-tree.ts';

t.setTimeout(300_000);

const ROOT = join(import.meta.dirname, '../..');
const DEPLOY = join(ROOT, 'deploy');
const UNITS = readdirSync(join(DEPLOY, 'systemd')).filter((name) => name.endsWith('.service'));

/** Runs a program and returns its exit status and everything that it printed. */
const run = (program: string, args: string[], cwd = DEPLOY) =>
  promisify(execFile)(findProgram(program) ?? program, args, { cwd }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: `${stdout}${stderr}` }),
  );

t.test('has units that systemd accepts and calls safe', needs('systemd-analyze'), async (t) => {
  t.same(UNITS.sort(), [
    'service-backup.service',
    'service-release.service',
    'service-web@.service',
    'service-worker@.service',
  ]);
  const node = { '/opt/node/bin/node': process.execPath };
  const paths = UNITS.map((unit) => writeConfig(t, join('systemd', unit), node));
  for (const path of paths) {
    t.same(await run('systemd-analyze', ['verify', path]), { code: 0, output: '' }, path);
    const exposure = ['security', '--offline=true', '--threshold=15', path];
    t.match(await run('systemd-analyze', exposure), { code: 0, output: / 1\.\d OK / }, path);
  }
});

t.test('names files that exist in units, manifests, compose.yaml and Containerfile', (t) => {
  const programs = [
    ...UNITS.map((unit) => `systemd/${unit}`),
    ...['release', 'web', 'worker'].map((name) => `kubernetes/${name}.yaml`),
    ...['compose.yaml', 'Containerfile'],
  ];
  for (const name of programs) {
    const text = readFileSync(join(DEPLOY, name), 'utf8').replace(/^\s*#.*$/gm, '');
    const files = text.match(/\b(?:services|workers|cli)\/[\w-]+\.ts\b/g) ?? [];
    t.ok(files.length > 0, name);
    for (const file of files) t.ok(readFileSync(join(ROOT, file)), `${file} in ${name}`);
  }
  const compose = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8');
  const mounted = [...compose.matchAll(/^ +- (\.\/[\w./-]+):/gm)].map(([, path]) => path ?? '');
  t.ok(mounted.length > 4);
  for (const path of mounted) t.ok(existsSync(join(DEPLOY, path)), path);
  const containerfile = readFileSync(join(DEPLOY, 'Containerfile'), 'utf8');
  const copied = [...containerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
    names?.split(' '),
  );
  t.same(copied.sort(), [...COPIED].sort(), 'the image has what the tested installation has');
  t.match(containerfile, /^USER 65532:65532$/m);
  t.end();
});

const checked = (name: string) =>
  process.env[name] ? {} : { skip: `${name} is not set to the path of the program` };

t.test('has a compose file of a valid form', checked('CHECK_JSONSCHEMA'), async (t) => {
  const schema = ['--builtin-schema', 'vendor.compose-spec', 'compose.yaml'];
  t.match(await run(process.env.CHECK_JSONSCHEMA as string, schema), { code: 0 });
});

const MANIFESTS = ['release.yaml', 'web.yaml', 'worker.yaml', 'network-policies.yaml'];
const KUBERNETES = join(DEPLOY, 'kubernetes');

t.test(
  'has manifests of a valid form for Kubernetes',
  checked('KUBERNETES_VALIDATE'),
  async (t) => {
    const found = readdirSync(KUBERNETES).filter((name) => name !== 'kustomization.yaml');
    t.same(found.sort(), [...MANIFESTS].sort());
    for (const name of MANIFESTS) {
      const args = ['--strict', name];
      const { code, output } = await run(
        process.env.KUBERNETES_VALIDATE as string,
        args,
        KUBERNETES,
      );
      t.equal(code, 0, output);
      t.match(output, / passed for resource /);
    }
  },
);

t.test('has manifests that kubectl puts together', needs('kubectl'), async (t) => {
  const { code, output } = await run('kubectl', ['kustomize', KUBERNETES]);
  t.equal(code, 0, output);
  t.same(output.match(/^kind: \w+$/gm)?.sort(), [
    'kind: ConfigMap',
    'kind: Deployment',
    'kind: Deployment',
    'kind: Job',
    'kind: NetworkPolicy',
    'kind: NetworkPolicy',
    'kind: PodDisruptionBudget',
    'kind: Service',
  ]);
  t.same([...new Set(output.match(/image: .*/g))], ['image: localhost/service:0.9.0']);
  const [, settings] = /^kind: ConfigMap\nmetadata:\n {2}name: (.*)$/m.exec(output) ?? [];
  t.equal(output.match(new RegExp(`name: ${settings}$`, 'gm'))?.length, 4, 'each pod has them');
  const args = (text: string) => [...text.matchAll(/--max-[^\]]+\.ts/g)].map(([all]) => all);
  t.same(
    ['web.yaml', 'worker.yaml'].flatMap((name) =>
      args(readFileSync(join(KUBERNETES, name), 'utf8')),
    ),
    args(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8')),
    'with the same limits of memory',
  );
});

t.test('has a configuration that Prometheus accepts', needs('promtool'), async (t) => {
  const config = writeConfig(t, 'compose/prometheus.yml', {
    '/etc/prometheus/alerts.yml': join(DEPLOY, 'prometheus/alerts.yml'),
  });
  t.match(await run('promtool', ['check', 'config', config]), { code: 0, output: /SUCCESS/ });
  const jobs = (name: string) =>
    readFileSync(join(DEPLOY, name), 'utf8')
      .match(/job_name: \S+/g)
      ?.sort();
  t.same(jobs('compose/prometheus.yml'), jobs('prometheus/prometheus.yml'));
});

t.test('has a configuration that HAProxy accepts', needs('haproxy'), async (t) => {
  const config = writeConfig(t, 'haproxy.cfg', {});
  const { code, output } = await run('haproxy', ['-c', '-f', config]);
  t.equal(code, 0, output);
});

t.test('has a configuration of each machine that Patroni accepts', needsPatroni(), async (t) => {
  const { path: folder, remove } = temporaryFolder('patroni');
  t.teardown(remove);
  const network = newNetwork();
  // Patroni connects to each etcd before it accepts the file.
  for (const number of [11, 12, 13]) {
    const etcd = createServer().listen(2379, `${network}${number}`);
    await once(etcd, 'listening');
    t.teardown(() => etcd.close());
  }
  for (const machine of ['db1', 'db2'] as const) {
    const config = writePatroniConfig(t, machine, { network, folder });
    t.same(await run('patroni', ['--validate-config', config]), { code: 0, output: '' }, machine);
  }
});

t.test('has a Containerfile without findings of hadolint', checked('HADOLINT'), async (t) => {
  const clean = { code: 0, output: '' };
  t.same(await run(process.env.HADOLINT as string, ['Containerfile']), clean);
});

t.test('makes secrets once, each with a form that the service accepts', async (t) => {
  const { path, remove } = temporaryFolder('compose');
  t.teardown(remove);
  const script = writeConfig(t, 'compose/secrets.sh', { '$(dirname "$0")/..': path });
  t.match(await run('sh', [script], path), { code: 0, output: '' });
  const read = () =>
    readdirSync(join(path, 'secrets')).map((name) => [
      name,
      readFileSync(join(path, 'secrets', name), 'utf8'),
    ]);
  const made = read();
  t.match(Object.fromEntries(made), {
    'database-url': /^postgres:\/\/service:[0-9a-f]{64}@database:5432\/service\n$/,
    'grafana-password': /^[0-9a-f]{64}\n$/,
    'owner-url': /^postgres:\/\/service_owner:[0-9a-f]{64}@database:5432\/service\n$/,
    'postgres-password': /^[0-9a-f]{64}\n$/,
    'server-keys': /^1:[0-9a-f]{64}\n$/,
  });
  t.match(await run('sh', [script], path), { code: 0, output: '' });
  t.same(read(), made, 'a second run keeps them');
});

t.test('has a Caddyfile through which members write', needs('caddy'), async (t) => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const web = await startProcess(t, 'web', ['ignore', 'ignore', 'inherit'], {
    BASE_URL: base,
    TRUSTED_PROXIES: '1',
  });
  await web.untilServes();
  const config = writeConfig(t, 'Caddyfile', {
    '{$SITE_ADDRESS:localhost} {': `{\n\tadmin off\n}\n${base} {`,
    '{$UPSTREAMS:127.0.0.1:3001 127.0.0.1:3002}': new URL(web.base).host,
    // A process that a busy machine does not run for a second is not down.
    'health_timeout 5s': 'health_timeout 60s',
  });
  const adapter = ['--config', config, '--adapter', 'caddyfile'];
  t.match(await run('caddy', ['validate', ...adapter]), { code: 0, output: /Valid configuration/ });
  const formatted = await run('caddy', ['fmt', join(DEPLOY, 'Caddyfile')]);
  t.equal(formatted.output, readFileSync(join(DEPLOY, 'Caddyfile'), 'utf8'));
  t.teardown((await startProgram('caddy', ['run', ...adapter], port, 'ignore')).kill);
  const page = await fetch(`${base}/`);
  t.equal(page.status, 200, await page.text());
  const registered = await fetch(`${base}/api/membership/register`, {
    method: 'POST',
    headers: { origin: base, 'content-type': 'application/json' },
    body: JSON.stringify(newRegistration()),
  });
  t.equal(registered.status, 200, await registered.text());
  t.match(registered.headers.get('x-request-id'), /^[\w-]{36}$/, basename(config));
});
