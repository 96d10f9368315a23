import { expect, it } from "vitest";
import { daemonEnvironment } from "./daemon-environment.ts";

it("G-55 keeps what a daemon and its programs read, and no token of the command that starts it", () => {
  const kept = {
    PATH: "/bin",
    CLOCHE_HOME: "/h",
    DOCKER_HOST: "unix:///s",
    npm_config_registry: "r",
    https_proxy: "p",
  };
  const left = {
    API_KEY: "t",
    CLOCHE_TOKEN: "t",
    NODE_OPTIONS: "--heapsnapshot-signal=SIGUSR2",
    npm_config__authToken: "t",
    NPM_CONFIG__PASSWORD: "t",
    "npm_config_//registry.example/:_authToken": "t",
    LANG: undefined,
  };
  expect(daemonEnvironment({ ...left, ...kept })).toEqual(kept);
});
