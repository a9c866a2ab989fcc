import { A2aFault, type FaultName } from './fault.ts';
import { type MessageSender, type SendDeps, sendMessage } from './send-message.ts';

export type Method = (
  deps: SendDeps,
  params: Record<string, unknown>,
  caller: MessageSender,
) => Promise<unknown>;

/** The methods of the binding that the service does not support, with their faults. */
export const UNSUPPORTED_METHODS: ReadonlyMap<string, FaultName> = new Map([
  ['SendStreamingMessage', 'UNSUPPORTED_OPERATION'],
  ['SubscribeToTask', 'UNSUPPORTED_OPERATION'],
  ['GetExtendedAgentCard', 'UNSUPPORTED_OPERATION'],
  ['CreateTaskPushNotificationConfig', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ['GetTaskPushNotificationConfig', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ['ListTaskPushNotificationConfigs', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ['DeleteTaskPushNotificationConfig', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
]);

/** The methods of the binding that are answered. The service has no task store. */
export const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['SendMessage', sendMessage],
  ['GetTask', findNoTask],
  ['CancelTask', findNoTask],
  ['ListTasks', listTasks],
]);

async function findNoTask(): Promise<never> {
  throw new A2aFault('TASK_NOT_FOUND');
}

/** In ProtoJSON, null means absent, and a number may be sent as a string. */
async function listTasks(_: SendDeps, { pageSize: asked }: Record<string, unknown>) {
  const pageSize =
    typeof asked === 'string' && /^\d{1,3}$/.test(asked) ? Number(asked) : (asked ?? 50);
  if (!Number.isInteger(pageSize) || (pageSize as number) < 1 || (pageSize as number) > 100)
    throw new A2aFault('INVALID_PARAMS', undefined, [
      { path: 'pageSize', message: 'must be an integer from 1 to 100' },
    ]);
  return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
}
