import { ALNUM, entropyOf, sample, shaped } from "./rule-shapes.ts";

/** What examples have for a password. */
const EXAMPLE =
  /^(?:pass(?:word|wd)?|secret|postgres|mysql|root|admin|guest|test|user(?:name)?|example|changeme|token|pw|pwd|hunter2|foo|bar|s3cr3t)[0-9!]{0,3}$/i;

/** A password that nobody made up for an example: long enough, of more than one kind of character, and no variable. */
function isRealPassword(value: string): boolean {
  if (value.length < 8 || EXAMPLE.test(value) || /^[$<{%[*]|^[A-Z_]+$|\$\{|\}\}|x{4}|\.\.\./.test(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  return kinds >= 2 && entropyOf(value) > 2.5;
}

const password = (): string => `${sample(ALNUM, 15)}7aZ`;

/** Addresses with a user and a password in them. */
const address = (id: string, description: string, ...schemes: readonly string[]) =>
  shaped({
    id,
    description,
    isCommon: schemes.includes("http"),
    keywords: schemes.map((scheme) => `${scheme}://`),
    pattern: new RegExp(
      `(?:${schemes.join("|").replaceAll("+", "\\+")})://[^\\s:/?#@"'\`<>\\\\]{0,64}:(?<value>[^\\s/?#@"'\`<>\\\\]{3,128})@[A-Za-z0-9\\[_]`,
    ),
    accept: isRealPassword,
    hit: () => `${schemes[0] ?? ""}://app:${password()}@db.example.com/app`,
    miss: () => `${schemes[0] ?? ""}://app:password@db.example.com/app`,
  });

export const ADDRESS_RULES = [
  address("postgres-url", "PostgreSQL address with a password", "postgres", "postgresql", "cockroachdb"),
  address("mysql-url", "MySQL or MariaDB address with a password", "mysql", "mysql2", "mariadb", "mysqlx"),
  address("mongodb-url", "MongoDB address with a password", "mongodb", "mongodb+srv"),
  address("redis-url", "Redis address with a password", "redis", "rediss", "valkey"),
  address("amqp-url", "AMQP address with a password", "amqp", "amqps"),
  address("sql-server-url", "SQL Server address with a password", "sqlserver", "mssql"),
  address("clickhouse-url", "ClickHouse address with a password", "clickhouse", "clickhouses"),
  address("nats-url", "NATS or MQTT address with a password", "nats", "mqtt", "mqtts", "tls"),
  address("ftp-url", "FTP address with a password", "ftp", "ftps", "sftp"),
  address("smtp-url", "Mail server address with a password", "smtp", "smtps", "imap", "imaps"),
  address("ldap-url", "LDAP address with a password", "ldap", "ldaps"),
  address("http-url", "Web address with a password", "http", "https"),
  address("git-url", "Repository address with a password", "git", "git+https", "ssh"),
  shaped({
    id: "connection-string-password",
    description: "Password in a connection string",
    keywords: ["Password=", "password=", "PASSWORD=", "Pwd=", "pwd=", "PWD="],
    before: 300,
    pattern:
      /(?:Server|Data Source|Host|AccountEndpoint)=[^;"'\s]{1,128};[^"'\n]{0,160}?(?:Password|Pwd)=(?<value>[^;"'\s]{6,128})/i,
    accept: isRealPassword,
    hit: () => `Server=db.example.com;Database=app;User Id=app;Password=${password()};`,
    miss: () => "Server=db.example.com;Database=app;User Id=app;Password=password;",
  }),
  shaped({
    id: "jdbc-password",
    description: "Password in an address of JDBC",
    keywords: ["jdbc:"],
    pattern: /jdbc:[a-z0-9:]{2,24}\/\/[^\s"'<>]{1,160}?[?;&](?:password|pwd)=(?<value>[^\s&;"'<>\\]{6,128})/i,
    accept: isRealPassword,
    hit: () => `jdbc:postgresql://db.example.com:5432/app?user=app&password=${password()}`,
    miss: () => "jdbc:postgresql://db.example.com:5432/app?user=app&password=password",
  }),
  shaped({
    id: "dsn-password",
    description: "Password among the words of a connection to a database",
    keywords: ["dbname="],
    before: 200,
    pattern:
      /(?:(?:host|user|port|sslmode)=[^\s"']{1,128}\s{1,4}){0,4}dbname=[^\s"']{1,64}\s{1,4}(?:(?:host|user|port|sslmode)=[^\s"']{1,128}\s{1,4}){0,4}password=(?<value>[^\s"'\\]{6,128})/i,
    accept: isRealPassword,
    hit: () => `host=db.example.com dbname=app user=app password=${password()}`,
    miss: () => "host=db.example.com dbname=app user=app password=postgres",
  }),
  shaped({
    id: "netrc-password",
    description: "Password in a .netrc",
    keywords: ["machine "],
    pattern:
      /machine [^\s\\]{1,128}(?:\s|\\n){1,8}login [^\s\\]{1,128}(?:\s|\\n){1,8}password (?<value>[^\s"'\\]{6,128})/,
    accept: isRealPassword,
    hit: () => `machine git.example.com\n  login app\n  password ${password()}`,
    miss: () => "machine git.example.com login app password password",
  }),
];
