"""Common words in passwords, compiled by hand for this project. `password_rules` combines them.

English, each language of the dashboard (without accents), and the most common words of others.
"""

from __future__ import annotations

from typing import Final

_PHRASES = """
password passwort passw passwd pass letmein welcome login logon admin administrator root user username guest default
changeme change secret access master manager system server service computer internet network windows linux google
facebook apple samsung microsoft amazon youtube twitter instagram linkedin iloveyou iloveu ilove loveyou love lover
lovely loveme trustno trustnoone trustme whatever nothing nopassword mypassword thepassword yourpassword newpassword
myspace hello helloworld hallo hola bonjour please letme openup opensesame sesame fuckyou fuckoff fuck fucker asshole
bitch shit sexy sex pussy killer hunter ninja pirate wizard warrior soldier ranger shadow phantom ghost angel devil
demon heaven princess prince king queen knight baby babygirl babyboy sweetheart honey sugar cookie candy chocolate
cheese banana orange cherry lemon peaches strawberry pepper coffee pizza butter whiskey beer test testing tester
temp temporary example sample demo dashboard sanderling sanderlings monitor watch watcher stream event alert webhook
"""
_NATURE = """
dragon monkey tiger lion eagle falcon hawk phoenix panther jaguar cougar bear wolf horse pony dog doggy cat kitty
kitten puppy rabbit bunny turtle dolphin shark whale snake spider scorpion butterfly chicken duck penguin panda
elephant flower flowers rose lily daisy jasmine violet summer winter spring autumn sunshine sunset sunrise moon
moonlight star stars starlight rainbow snow snowball snowflake thunder lightning storm rain river ocean beach island
mountain forest garden diamond crystal silver golden gold ruby emerald sapphire pearl fire ice water earth
black white red blue green yellow purple pink brown grey gray
"""
_NAMES = """
michael michelle jennifer jessica ashley amanda daniel david matthew andrew joshua james john robert william thomas
charles christopher anthony joseph nicholas alexander alexandra alex samantha stephanie elizabeth nicole victoria
hannah sarah rachel rebecca laura emily emma olivia sophia sophie charlotte jordan taylor tyler justin brandon brian
kevin eric steven stephen george peter paul mark martin richard edward harry jack oliver benjamin samuel patrick
maria anna marie lucas simon robin tommy jimmy bobby johnny charlie maggie molly lucy bella buddy bailey max rocky
ginger oscar felix sebastian maximilian andrea francesco giovanni alessandro carlos antonio fernando mohammed ahmed
ali fatima ivan natasha sergey dmitry svensson andersson johansson smith jones brown
"""
_PASTIMES = """
football soccer baseball basketball hockey tennis golf golfer cricket rugby swimming running fishing hunting dance
dancer music guitar piano drummer rock metal jazz hiphop liverpool arsenal chelsea everton manchester united barcelona
realmadrid juventus bayern yankees lakers cowboys steelers redskins packers raiders bulldogs patriots eagles giants
dodgers superman batman spiderman ironman wolverine starwars startrek skywalker yoda vader matrix pokemon pikachu
naruto goku zelda mario luigi sonic minecraft fortnite roblox warcraft diablo halo gamer player games game harley
ferrari porsche mercedes mustang corvette camaro chevy toyota honda yamaha bmw audi jeep truck nascar racing
marlboro jackson metallica nirvana slipknot eminem tupac blink beatles elvis
"""
_PLACES = """
london paris berlin madrid rome milano vienna stockholm sverige sweden norway denmark finland germany deutschland
england france espana italia europe america canada australia texas california florida chicago boston dallas houston
newyork denver phoenix arizona alaska hawaii india china japan tokyo moscow brasil mexico
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
october november december today tomorrow yesterday morning night christmas halloween easter birthday
"""
_PLAIN = """
one two three four five six seven eight nine ten first last only best good great super mega ultra cool happy lucky
crazy smile money cash dollar million rich power strong freedom liberty peace hope faith grace jesus christ god
jesuschrist godisgood bless blessed church family mother father mommy daddy mom dad sister brother friend friends
forever always never home house school college student teacher office work boss company business bank the and for you
your my me is are i a in to qwerty qwertz azerty asdf zxcv abc abcd xyz
"""
_SWEDISH = """
losenord losen hemligt hemlig hemlighet hej hejsan hejhej tjena valkommen valkomna jag du alskar dig mig min mitt mina
alskardig jagalskardig alskling gumman gubben karlek hjarta puss kram vacker snygg sota bast basta skit fan helvete
jaevla javla fitta kuk knulla sommar vinter host hosten var varen jul julafton midsommar pask nyar idag imorgon
mandag tisdag onsdag torsdag fredag lordag sondag januari februari mars april maj juni juli augusti september oktober
november december fotboll hockey ishockey innebandy handboll ridning hast hasten hastar hund hunden katt katten kanin
fagel alg algen bjorn varg lejon haxan drake blomma blommor blomman solsken solen manen stjarna stjarnan regnbage sno
snon skog skogen havet sjon vatten brand eld bulle bullar kaffe kakor choklad godis potatis pannkaka ost smor mjolk
gurka banan apelsin jordgubbe blabar hallon mamma pappa mormor morfar farmor farfar bror syster familj familjen barn
barnen vanner kompis tjejer killar skolan jobbet foretag arbete dator datorn telefon internet bilen bil volvo saab ikea
svensk svenska stockholm goteborg malmo uppsala lund orebro vasteras linkoping norrkoping umea lulea gavle boras skane
smaland dalarna gotland norrland aik djurgarden hammarby frolunda farjestad brynas leksand hv71 elfsborg kalmar
ett tva tre fyra fem sex sju atta nio tio och ar en att som det ar inte med bra stor liten rod bla gron gul svart vit
johan erik lars anders karl per nils lena kerstin birgitta karin elin ida emelie malin linnea astrid elsa alva ebba
saga wilma maja agnes hugo liam noah elias filip viktor gustav axel oskar fredrik mikael magnus henrik jonas mattias
jonathan sofia sara josefin hanna moa tindra nilsson karlsson eriksson larsson olsson persson pettersson gustafsson
"""
_ELSEWHERE = """
motdepasse mdp jetaime salut soleil doudou chouchou loulou marseille contrasena contrasenia tequiero teamo amor hola
estrella senha brasil passwort kennwort geheim hallo schatz ichliebedich sommer fussball schalke wachtwoord welkom
geheim parola ciao amore juventus haslo kochamcie polska salasana kissa adgangskode passord sifre parol privet
"""
_ALL = (_PHRASES, _NATURE, _NAMES, _PASTIMES, _PLACES, _PLAIN, _SWEDISH, _ELSEWHERE)
WORDS: Final = frozenset(" ".join(_ALL).split())
