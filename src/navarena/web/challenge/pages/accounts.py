"""Routes of signing up and in, one's account, and teams."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Request, Response
from sqlalchemy.orm import Session

from navarena.web.challenge.accounts.personal_data import delete_account, export_account
from navarena.web.challenge.accounts.sessions import (
    COOKIE,
    Visitor,
    address_of,
    close_session,
    open_session,
)
from navarena.web.challenge.accounts.teams import (
    create_team,
    list_teams,
    make_owner,
    remove_member,
    require_team,
)
from navarena.web.challenge.accounts.users import (
    describe_account,
    invite,
    issue_token,
    join_by_invitation,
    list_tokens,
    require_user,
    revoke_token,
)
from navarena.web.challenge.pages.site import LARGEST_ID, Site, Text, quote_segment, see_other
from navarena.web.challenge.pages.submission_views import view_team
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import hidden_phases
from navarena.web.challenge.storage.models import User

TokenId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


def view_account(session: Session, user: User) -> dict[str, object]:
    """The page of one's account: teams and tokens."""
    return {
        **describe_account(user),
        "teams": [team.name for team in list_teams(session, user)],
        "tokens": [
            {"id": one.id, "label": one.label, "created": one.created, "revoked": one.revoked}
            for one in list_tokens(session, user)
        ],
    }


def make_account_router(site: Site) -> APIRouter:
    """The routes of accounts and teams."""
    router = APIRouter(include_in_schema=False)

    def show(request: Request, visitor: Visitor, token: str | None = None) -> Response:
        user = visitor.require_user()
        with site.storage.read() as session:
            view = view_account(session, user)
        return site.page(request, "account.html", visitor, view=view, has_form=True, token=token)

    @router.get("/sign-in")
    def show_sign_in(request: Request) -> Response:
        return site.page(request, "sign_in.html", site.visitor(request), has_form=True, failure=None, name="")

    @router.post("/sign-in")
    def sign_in(request: Request, name: Text = "", password: Text = "", csrf: Text = "") -> Response:
        visitor = site.visitor_of_form(request, csrf)
        try:
            user = site.accounts.sign_in(name, password, address_of(request))
        except Refusal as refusal:
            values = {"failure": str(refusal), "name": name}
            return site.page(request, "sign_in.html", visitor, refusal.status, has_form=True, **values)
        response = see_other("/account")
        open_session(site.storage, user, request, response)
        return response

    @router.get("/sign-up")
    def show_sign_up(request: Request) -> Response:
        values = {"failure": None, "name": "", "sign_up": site.accounts.sign_up_by}
        return site.page(request, "sign_up.html", site.visitor(request), has_form=True, **values)

    @router.post("/sign-up")
    def sign_up(
        request: Request, name: Text = "", password: Text = "", code: Text = "", csrf: Text = ""
    ) -> Response:
        visitor = site.visitor_of_form(request, csrf)
        try:
            user = site.accounts.sign_up(name, password, address_of(request), code.strip())
        except Refusal as refusal:
            values = {"failure": str(refusal), "name": name, "sign_up": site.accounts.sign_up_by}
            return site.page(request, "sign_up.html", visitor, refusal.status, has_form=True, **values)
        response = see_other("/account")
        open_session(site.storage, user, request, response)
        return response

    @router.post("/sign-out")
    def sign_out(request: Request, csrf: Text = "") -> Response:
        site.visitor_of_form(request, csrf)
        response = see_other("/")
        close_session(site.storage, request, response)
        return response

    @router.get("/account")
    def show_account(request: Request) -> Response:
        visitor = site.visitor(request)
        return show(request, visitor) if visitor.user is not None else see_other("/sign-in")

    @router.post("/account/tokens")
    def make_token(request: Request, label: Text = "", csrf: Text = "") -> Response:
        visitor = site.visitor_of_form(request, csrf)
        with site.storage.write() as session:
            token = issue_token(session, visitor.require_user(), label)
        return show(request, visitor, token)

    @router.post("/account/tokens/{number}/revoke")
    def end_token(request: Request, number: TokenId, csrf: Text = "") -> Response:
        user = site.visitor_of_form(request, csrf).require_user()
        with site.storage.write() as session:
            revoke_token(session, user, number)
        return see_other("/account")

    @router.post("/account/password")
    def change_password(request: Request, old: Text = "", new: Text = "", csrf: Text = "") -> Response:
        user = site.visitor_of_form(request, csrf).require_user()
        site.accounts.change_password(user, old, new)
        response = see_other("/account")
        open_session(site.storage, user, request, response)
        return response

    @router.get("/account/export")
    def export(request: Request) -> Response:
        user = site.visitor(request).require_user()
        with site.storage.read() as session:
            held = export_account(session, user, hidden_phases(session, site.challenge))
        data = msgspec.json.format(msgspec.json.encode(held))
        headers = {"content-disposition": 'attachment; filename="account.json"', "cache-control": "no-store"}
        return Response(data, media_type="application/json", headers=headers)

    @router.post("/account/delete")
    def delete(request: Request, password: Text = "", csrf: Text = "") -> Response:
        user = site.visitor_of_form(request, csrf).require_user()
        site.accounts.require_password(user, password)
        with site.storage.write() as session:
            delete_account(session, require_user(session, user.name))
        response = see_other("/")
        response.delete_cookie(COOKIE)
        return response

    @router.post("/account/teams")
    def add_team(request: Request, name: Text = "", csrf: Text = "") -> Response:
        user = site.visitor_of_form(request, csrf).require_user()
        with site.storage.write() as session:
            team = create_team(session, user, name)
        return see_other(f"/teams/{quote_segment(team.name)}")

    @router.post("/account/join")
    def join(request: Request, code: Text = "", csrf: Text = "") -> Response:
        user = site.visitor_of_form(request, csrf).require_user()
        site.accounts.count_code(address_of(request))
        with site.storage.write() as session:
            join_by_invitation(session, user, code.strip())
        return see_other("/account")

    @router.post("/teams/{name}/invitations")
    def invite_member(request: Request, name: str, csrf: Text = "") -> Response:
        visitor = site.visitor_of_form(request, csrf)
        user = visitor.require_user()
        with site.storage.write() as session:
            team = require_team(session, user, name, owner=True)
            code = invite(session, user.name, "participant", team.id, team.name)
        with site.storage.read() as session:
            view = view_team(session, site.challenge, visitor, name)
        return site.page(request, "team.html", visitor, view=view, has_form=True, code=code)

    @router.post("/teams/{name}/members/{member}/remove")
    def remove(request: Request, name: str, member: str, csrf: Text = "") -> Response:
        user = site.visitor_of_form(request, csrf).require_user()
        with site.storage.write() as session:
            remove_member(session, user, require_team(session, user, name), member)
        own = member == user.name
        return see_other("/account" if own else f"/teams/{quote_segment(name)}")

    @router.post("/teams/{name}/members/{member}/owner")
    def promote(request: Request, name: str, member: str, csrf: Text = "") -> Response:
        user = site.visitor_of_form(request, csrf).require_user()
        with site.storage.write() as session:
            make_owner(session, user, require_team(session, user, name, owner=True), member)
        return see_other(f"/teams/{quote_segment(name)}")

    return router
