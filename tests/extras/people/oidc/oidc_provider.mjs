// An issuer of OpenID Connect from npm, on loopback. Arguments: its port, and the address of our callback.
import { Provider } from "oidc-provider";

const [port, redirect] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const groups = { ada: ["gulls", "keepers"], bo: [] };
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "sanderling",
      client_secret: "a-long-secret-of-the-client",
      redirect_uris: [redirect],
      post_logout_redirect_uris: [new URL("/sign-in", redirect).href],
    },
  ],
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
  cookies: { keys: ["not a secret"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: `${id} of npm`, email: `${id}@npm.test`, email_verified: true, groups: groups[id] }),
  }),
  pkce: { required: () => true },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
