"""`sanderling help` and `sanderling completion`: the manual in the terminal, and shell completion."""

from __future__ import annotations

import click

from sanderling.environment import environ


def _beginning(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    from sanderling.manual.pages import contents

    return [name for names in contents().values() for name in names if name.startswith(typed)]


@click.command("help")
@click.argument("topic", required=False, shell_complete=_beginning)
@click.option("--markdown", "as_markdown", is_flag=True, help="The page as it was written.")
def help_page(topic: str | None, *, as_markdown: bool) -> int:
    """Show a page of the manual; without a TOPIC, which pages there are.

    \b
    sanderling help
    sanderling help alerts
    """
    from sanderling.manual.pages import show_help

    return show_help(topic, environ(), as_markdown=as_markdown)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the script that makes a SHELL complete commands, flags and pages. Packages install it.

    \b
    sanderling completion bash > ~/.local/share/bash-completion/completions/sanderling
    sanderling completion zsh > ~/.zfunc/_sanderling
    sanderling completion fish > ~/.config/fish/completions/sanderling.fish
    """
    from sanderling.manual.shell import script

    click.echo(script(shell), nl=False)
    return 0
