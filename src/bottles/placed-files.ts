import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Route } from "../model/egress.ts";
import type { MergedBottle } from "../policy/bottles/merge-bottles.ts";

/**
 * What a bottle names of the host for its routes and repositories, by whole paths: files with certificates, and token commands that are no mere names. They
 * are meant from `folder`, where the bottle is, and `~/` from the user's home.
 */
export function withPlacedFiles(merged: MergedBottle, folder: string): MergedBottle {
  const { egress, git } = merged.bottle;
  const repos = Object.entries(git?.repos ?? {}).map(
    ([name, { ca, ...repo }]) => [name, ca === undefined ? repo : { ...repo, ca: placed(ca, folder) }] as const,
  );
  return {
    ...merged,
    bottle: {
      ...merged.bottle,
      ...(egress?.routes && {
        egress: { ...egress, routes: egress.routes.map((route) => placedRoute(route, folder)) },
      }),
      ...(git?.repos && { git: { ...git, repos: Object.fromEntries(repos) } }),
    },
  };
}

function placedRoute(route: Route, folder: string): Route {
  const { ca, auth } = route;
  const ofAuth = (one: Auth): Auth => {
    const [program = "", ...words] = one.token_command ?? [];
    return program.includes("/") ? { ...one, token_command: [placed(program, folder), ...words] } : one;
  };
  return {
    ...route,
    ...(ca !== undefined && { ca: placed(ca, folder) }),
    ...(auth && { auth: Array.isArray(auth) ? auth.map(ofAuth) : ofAuth(auth) }),
  };
}

type Auth = Exclude<NonNullable<Route["auth"]>, readonly unknown[]>;

const placed = (path: string, folder: string): string =>
  path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(folder, path);
