// The worker's sides of the views, by view. The build makes the list from the folders in web/views
// (py/tallow_build/page/bundle.mjs).

type ActionsOf = (services: any) => Record<string, (args: any, context: any) => unknown>;

export const ACTIONS: Record<string, ActionsOf>;

/** Import those of lazy views: when one is first asked. */
export const LATER: Record<string, () => Promise<{ default: ActionsOf }>>;
