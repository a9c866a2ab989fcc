import { verifyLog } from './verify-log-command.ts';

const { status, out, err } = await verifyLog(process.argv.slice(2));
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = status;
