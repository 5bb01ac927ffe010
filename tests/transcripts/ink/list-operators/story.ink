LIST doctors = (adams), bernard, (cartwright), denver, eamonn
{doctors}
~ doctors += bernard
{doctors}
~ doctors -= adams
{doctors}
~ doctors = doctors + (denver, eamonn)
{doctors}
{doctors ? denver} {doctors has (denver, bernard)} {doctors hasnt adams} {doctors !? adams}
{doctors ^ (adams, bernard, eamonn)}
{doctors - (denver, eamonn)}
{(adams, bernard) == (bernard, adams)} {doctors > (adams)} {doctors < (eamonn)} {doctors >= (bernard)} {doctors <= (eamonn)}
{not ()} {not doctors}
{doctors: Some.|None.} {(): Some.|None.}
