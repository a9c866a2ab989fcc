import { verifyHandoff } from './verify-handoff-command.ts';

const { status, out, err } = await verifyHandoff(process.argv.slice(2));
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = status;
