import { execFile } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startService } from '../support/service.ts';
import { countEvents, SVC, svcIn } from '../support/svc.ts';

// `svc mcp` with the official MCP Inspector, which has no person to ask.

const inspector = process.env.MCP_INSPECTOR;
if (!inspector) console.error('SKIPPED: the MCP Inspector; MCP_INSPECTOR is not its path');

const BRIEF = JSON.stringify({
  title: 'What was found',
  summary: 'Two gaps',
  body: 'Rows 3 and 9',
});

for (const era of ['legacy', 'modern'])
  t.test(
    `lets the MCP Inspector read, and write with --yes alone (${era})`,
    { skip: inspector ? false : 'MCP_INSPECTOR is not set' },
    async (t) => {
      const service = await startService(t);
      const { path, remove } = temporaryFolder('inspector');
      t.teardown(remove);
      const svc = svcIn(t, join(path, 'keys'), service.baseUrl);
      t.match(await svc('register', 'inspected'), { code: 0 });

      /** Runs the Inspector; its own settings are in a folder of the test. */
      const inspect = (flags: string[], ...words: string[]) => {
        const bridge = [process.execPath, SVC, 'mcp', '--home', svc.home, ...flags];
        const own = ['--protocol-era', era, '--format', 'json', '--quiet', ...words];
        const args = [inspector ?? '', '--cli', ...bridge, ...own];
        const env = { ...process.env, HOME: path };
        // biome-ignore lint/suspicious/noExplicitAny: a test reads what was answered
        return new Promise<{ code: number; result: any }>((resolve, reject) => {
          execFile(process.execPath, args, { env }, (error, out, err) => {
            if (out === '') return reject(new Error(err));
            resolve({ code: Number(error?.code ?? 0), ...JSON.parse(out) });
          });
        });
      };
      const call = (flags: string[], name: string, given = '{}') =>
        inspect(flags, '--method', 'tools/call', '--tool-name', name, '--tool-args-json', given);

      // Exits with 6 for a schema that some host cannot read.
      const listed = await inspect([], '--method', 'tools/list', '--strict');
      t.equal(listed.code, 0);
      t.ok(listed.result.tools.length > 10);
      const { result: who } = await call([], 'whoami');
      t.match(who.structuredContent, { member: { handle: 'inspected' } });
      const before = await countEvents(service, 'ArtifactPublished');
      const { result: refused } = await call([], 'publish_packet', BRIEF);
      t.match(refused, { isError: true, structuredContent: { code: 'consent_unavailable' } });
      t.equal(await countEvents(service, 'ArtifactPublished'), before);
      const published = await call(['--yes'], 'publish_packet', BRIEF);
      t.match(published, { code: 0, result: { structuredContent: { artifact: { id: String } } } });
      t.equal(await countEvents(service, 'ArtifactPublished'), before + 1);
    },
  );
